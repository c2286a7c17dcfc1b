import { regex, regexWith } from '../text/regex.ts'
import type { CodeLanguage } from './parts.ts'

// These expressions may match too much, but must not miss relevant code, because code without a match is not read.

/** Words that run a text or a program, and ways to name functions without writing their name. */
const runs = {
  python: regex`\b(eval(?!\(\s?\))|exec(file|[lv][ep]{0,2})?|popen|startfile|get(status)?output|spawn\w{0,4}|fork|
    subprocess|getattr|__import__|import_module|runpy|(?<!\bre\.)compile|pickle|dill|dup2|pty|system)\b\s?["'\x60]?[\s(.,)\]:;\}=]|
    create_subprocess|posix_spawn|\b(FunctionType|CodeType)\b|\bbuiltins\s{1,4}as\s|
    (\bbuiltins|__builtins__|__dict__|\b(globals|locals|vars)\(\)|\bmodules)\s?(\[\s?(?!__name__)|\.\s?get\b)`,
  script: regex`\b((eval|exec|Function|spawn\w{0,4}|fork|compile|Bun|Deno)\b\s?["'\x60]?[\s(.,)\]:;\}=]|
    (child_process|execa|shelljs|vm|_compile|atob)\b|require\s?(\(\s?[^"'\s)]|[;,)\]=])|
    import\s?\(|(globalThis|global|window|self)\s?(\?\.)?\s?\[|Reflect\s?\.|
    constructor(\s?:|(?<=[.["'\x60]\s?constructor)\b(?!\.name\b)))`,
}
/** A name or path that is put together from pieces, or written with escapes. */
const hides = regex`["'\x60](?!\\[nrt]["'\x60])[^\s"'\x60(){}<>,;:]{1,60}["'\x60](\)?\s{0,9}\+\s{0,9}\(?|\s{1,9})["'\x60][^\s"'\x60(){}<>,;:]{1,60}["'\x60]|
  ["'\x60]\.(join\(\s?[\[(]\s?|concat\(\s?|format\(\s?)["'\x60]|\]\s?\.join\(\s?(""|'')|\w\[\[["'\x60]|\$\{\s?["']|
  require\s?\(\s?([\x60(\[]|["'][^"'\n]{0,60}["']\s?[^\s)])|["'\x60]\.(replace(All)?\(\s?["'/]|split\(\s?(""|''))|
  ["'\x60]\s?\[[-\d]{0,3}:[-\d]{0,3}:|%s[^"'\n]{0,40}["']\s?%\s?\(?\s?["'][\w~/.]|\bf["'][^"'\n]{0,60}\{["']\w|
  \\(x|u00|u\{(00)?)(2[ef]|5f|[46][1-9a-f]|[57][\da])`
/** Functions and methods that send data. A URL alone does not match. */
const sends = regex`\b(fetch|axios|got|ky|needle|superagent|phin|undici|https?(?!:/)|requests|httpx|aiohttp|urlopen|urllib\d?|
  urlretrieve|wget|[sS]ocket|WebSocket|ws|net|dns|smtplib|ftplib|paramiko|boto3|sendBeacon|XMLHttpRequest|nodemailer|
  curl|nc|tls|dgram|telnet)\b|["']request["']|\bupload_|
  (\.|\[["'\x60])\s?(post|put|put_object|sendall|sendto|sendmail|send_message|storbinary)\b`
/** Files, the environment, other data of the user, addresses of secrets, and hosts that are not written in one piece. */
const sources = regexWith('i')`(?<!window\.)\bopen(Sync)?\b|\bread(_text|_bytes|File|Text|Sync|dir|Stream|\b(?!\(\)))|
  glob\b|\b(walk|listdir|scandir|iterdir|copyFile|cp|cpSync|renameSync)\b|ZipFile|TarFile|make_archive|
  \benviron|getenv|toObject|\benv\b(?!\??\.(?!\w{0,80}(KEY|TOKEN|SECRET|PASS|PAT|CRED|MNEMONIC|SEED|AUTH|HOME|DATA))\w)|
  clipboard|pyperclip|imagegrab|screenshot|\bmss\b|pynput|\bkeyboard\b|keyring|keytar|browser_cookie|rookiepy|
  CryptUnprotectData|\b(169|254)\b|metadata\.g|fd00:|100\.100|\bhttps?:(//?[\w.-]{0,24})?["'\x60]\s?[+"'.]`
/** Files that other programs run or agents obey, and texts in pieces, which may be orders to an agent. */
const plants = regexWith('i')`rc["'\x60]|profile|zshenv|bash_|rc\.local|environment["'\x60]|\.d/|config\.fish|ssh/rc|
  authorized_keys|cron|launch(agents|daemons)|systemd|autostart|start menu|currentversion|hooks|customize|\.pth\b|
  ld\.so|claude|agents\.md|mcp|cursor|windsurf|rules["'\x60/]|copilot|codex|openclaw|settings\.json|gemini|soul\.md|
  ["'\x60]\s{0,9}(\+|\s)\s{0,9}["'\x60]\w`
const writes = /writ|append|open|copy|\bcp|rename|move|replace|retrieve|download/i
/** Functions that delete files or change rights. */
const grave =
  /rmtree|rmSync|rmdir|\brm\b|rimraf|fs-extra|\bchmod|unverified|rejectUnauthorized|NODE_TLS|verify\s?[=:]\s?False/

/** Network programs, operations that hide a text, files that agents or programs obey, rights, and data loss. */
const shell = regexWith('i')`\b(curl|wget2?|aria2c|nc|ncat|netcat|socat|telnet|scp|sftp|rsync|rclone|ftp|xh|https?(?!:)|
  lynx|s_client|mail|dig|nslookup|gist|s3|gsutil|base64|base32|xxd|openssl|rev|tr|eval|source|printf|gunzip|zcat|at|chmod|rm|
  dd|shred)\b|/dev/|\bgit\s(add|push|clone)|
  \$['\{(]\w{0,20}[\\:/]|(?<=\w)(""|'')(?=\w)|["']\w{1,8}["']\w|\w\\\w|\$\{?\w{1,20}\}?\$\{?\w|\$0|\$\{!|^\s{0,8}\{\w{1,12},|
  rc\b|profile|authorized_keys|cron|systemd|launch(agents|daemons|ctl)|autostart|hooks|sslverify|mkfs|wipefs|-delete\b|
  claude|agents\.md|mcp\.json|settings\.json|gemini\.md|soul\.md|\b(python|node|perl|ruby)\d?\s-[ce]\b|systemctl|mkfifo`

/** Whether code can do anything that a rule is about. Other code, which is most of it, is not read. */
export function mayMatter(language: CodeLanguage, text: string): boolean {
  if (language === 'shell') return shell.test(text)
  if (runs[language === 'python' ? 'python' : 'script'].test(text) || hides.test(text) || grave.test(text)) return true
  return (sends.test(text) && sources.test(text)) || (writes.test(text) && plants.test(text))
}

import { regex, regexWith } from '../text/regex.ts'
import type { CodeLanguage } from './parts.ts'

// An expression here may match too much: what it misses is never read.

/** Words that run a text or a program, and ways to name functions without writing their name. */
const pythonRuns = regex`\b(eval(?!\(\s?\))|exec(file|[lv][ep]{0,2})?|popen|startfile|get(status)?output|spawn\w{0,4}|fork|
  subprocess|getattr|__import__|import_module|runpy|(?<!\bre\.)compile|pickle|dill|dup2|pty)\b\s?["'\x60]?[\s(.,)\]:;\}=]|
  create_subprocess|posix_spawn|\b(FunctionType|CodeType)\b|\bbuiltins\s{1,4}as\s|
  (\bbuiltins|__builtins__|__dict__|\b(globals|locals|vars)\(\)|\bmodules)\s?(\[\s?(?!__name__)|\.\s?get\b)`
const pythonSystem = /\bsystem\b/
const hasSystem = /\b(?:os|posix|nt)\b/
const scriptRuns = regex`\b((eval|exec|Function|spawn\w{0,4}|fork|compile|Bun|Deno)\b\s?["'\x60]?[\s(.,)\]:;\}=]|
  (child_process|execa|shelljs|vm|_compile)\b|require\s?(\(\s?[^"'\s)]|[;,)\]=])|
  import\s?\(|(globalThis|global|window|self)\s?(\?\.)?\s?\[|Reflect\s?\.|
    constructor(\s?:|(?<=[.["'\x60]\s?constructor)\b(?!\.name\b)))`
/** A timer that gets no function. */
const timers = /\bset(?:Timeout|Interval|Immediate)\b(?!\s?\(\s?(?:function|async|\(|\w+\s?=>))/
/** A name or path in pieces. */
const pieces = regex`["'\x60](?!\\[nrt]["'\x60])[^\s"'\x60(){}<>,;:]{1,60}["'\x60](\)?\s{0,9}\+\s{0,9}\(?|\s{1,9})["'\x60][^\s"'\x60(){}<>,;:]{1,60}["'\x60]|
  ["'\x60]\.(join\(\s?[\[(]\s?|concat\(\s?|format\(\s?)["'\x60]|\]\s?\.join\(\s?(""|'')|\w\[\[["'\x60]|\$\{\s?["']|
  require\s?\(\s?([\x60(\[]|["'][^"'\n]{0,60}["']\s?[^\s)])`
/** A name or path that is spelled in another way. */
const disguised = regex`["'\x60]\.(replace(All)?\(\s?["'/]|split\(\s?(""|''))|["'\x60]\s?\[[-\d]{0,3}:[-\d]{0,3}:|
  %s[^"'\n]{0,40}["']\s?%\s?\(?\s?["'][\w~/.]|\bf["'][^"'\n]{0,60}\{["']\w|
  \\(x|u00|u\{(00)?)(2[ef]|5f|[46][1-9a-f]|[57][\da])`
/** Any text in pieces. */
const joined = /["'`]\s{0,9}(?:\+|\s)\s{0,9}["'`]\w/
/** Words of the network, also in commands. */
const network = regexWith(
  'i',
)`\b(fetch|axios|got|ky|needle|superagent|phin|undici|https?|request|requests|httpx|aiohttp|
  urlopen|urllib\d?|urlretrieve|socket|websocket|ws|net|dns|smtplib|ftplib|paramiko|boto3|sendBeacon|XMLHttpRequest|
  nodemailer|curl|wget|nc|ncat|netcat|socat|scp|rsync|s?ftp|iwr|irm|tls|dgram|telnet|upload\w{0,12})\b`
const installs = /\b(?:install|add)\b|\b(?:npm|pnpm|bun|yarn)\W{1,6}i\b/
/** Words that decode a text. */
const decodes = regexWith('i')`atob|base64|b64|b32decode|b85decode|fromhex|unhexlify|["']hex["']|fromCharCode|
  fromCodePoint|\bchr\b|codecs|rot_?13|unescape|decodeURI|zlib|inflate|gunzip|decompress|marshal|\[[^\]\n]{0,9}:[^\]\n]{0,9}:|
  reverse|\^|maketrans|bytes(array)?\s?\(\s?\[|charCodeAt|\bxor|\\x[\da-f]{2}\\x|decrypt`
/** Commands that change the system or delete data. */
const systems =
  /\b(?:rm|dd|mkfs(?:\.\w{1,9})?|shred|wipefs|setcap|chmod|sudoers|ssh|git|systemctl|launchctl|LSQuarantine|LoginHook|http\.server)\b|-delete\b/
/** Functions and methods that send data; an address alone sends nothing. */
const sends = regex`\b(fetch|axios|got|ky|needle|superagent|phin|undici|https?(?!:/)|requests|httpx|aiohttp|urlopen|urllib\d?|
  urlretrieve|wget|[sS]ocket|WebSocket|ws|net|dns|smtplib|ftplib|paramiko|boto3|sendBeacon|XMLHttpRequest|nodemailer|
  curl|nc|tls|dgram|telnet)\b|["']request["']|\bupload_|
  (\.|\[["'\x60])\s?(post|put|put_object|sendall|sendto|sendmail|send_message|storbinary)\b`
/** Functions that read or write files, whose paths may be put together in any way. */
const files = regex`(?<!window\.)\bopen(Sync)?\b|\bread(_text|_bytes|F|T|S|dir|\b(?!\(\)))|ReadStream|
  [gG]lob(?!al)|\b(walk|listdir|scandir|iterdir|copyFile|cp|cpSync|renameSync|write_text|write_bytes|Bun)\b|ZipFile|
  TarFile|make_archive|writeF|writeT|appendF|outputF|WriteStream`
/** Data of the user that is no file, and addresses of secrets. */
const data = regexWith('i')`\benviron|getenv|toObject|clipboard|pyperclip|imagegrab|screenshot|\bmss\b|pynput|
  \bkeyboard\b|keyring|keytar|browser_cookie|rookiepy|CryptUnprotectData|\b(169|254)\b|metadata\.g|fd00:|100\.100`
/** An address whose host is not written in one piece. */
const builtHost = /\bhttps?:(?:\/\/?[\w.-]{0,24})?["'`]\s?[+"'.]/
/** The environment as a whole, or a variable of it with a secret or a folder. */
const environment = regexWith('i')`\benv\b(?!\??\.(?!\w{0,80}(KEY|TOKEN|SECRET|PASS|PAT|CRED|MNEMONIC|SEED|AUTH|HOME|
  PROFILE|DATA))\w)`
const hasEnvironment = /\b(?:process|Bun|Deno)\b|\\[xu]/
/** A call that accepts connections. */
const listens = /\bbind\b/
/** Files that others run or obey. */
const planted = regexWith(
  'i',
)`\.(bashrc|zshrc|zshenv|zprofile|profile|bash_\w{1,9}|zlogin|xprofile|xinitrc|pythonrc|vimrc|
  gitconfig)\b|["'\x60/](environment|profile|zshrc|zshenv)\b|bash\.bashrc|rc\.local|(conf|profile|init|update-motd|sudoers|
  pam)\.d|config\.fish|ssh/rc|authorized_keys|cron|launch(agents|daemons)|systemd|autostart|start menu|currentversion|
  \.git/hooks|hooks["'/]|(site|user)customize|\.pth\b|ld\.so\.preload|claude|agents\.md|mcp(_config)?\.json|hooks\.json|
  (cursor|windsurf)rules|["'\x60/]rules["'\x60/]|copilot-inst|\.codex|\.openclaw|settings\.json|gemini\.md|soul\.md`
const writes = /writ|append|open|copy|\bcp|rename|move|replace|retrieve|download|rmtree|rmSync|\brm\b|unlink/i
/** Functions that delete or change rights. */
const grave =
  /rmtree|rmSync|rmdir|\brm\b|rimraf|fs-extra|\bchmod|unverified|rejectUnauthorized|NODE_TLS|verify\s?[=:]\s?False/

/** Whether code can do anything that a rule is about. Most code cannot, and need not be read. */
export function mayMatter(language: CodeLanguage, text: string): boolean {
  if (language === 'shell') return mayMatterInShell(text)
  const isOnline = sends.test(text)
  const isRunning = mayRun(language, text)
  if (isRunning && (isOnline || [network, decodes, installs, joined, systems].some((pattern) => pattern.test(text))))
    return true
  if (pieces.test(text) || disguised.test(text)) return true
  if (timers.test(text) && decodes.test(text)) return true
  if (isOnline && (files.test(text) || mayCollect(language, text))) return true
  return ((isRunning || writes.test(text)) && (planted.test(text) || joined.test(text))) || grave.test(text)
}

function mayRun(language: CodeLanguage, text: string): boolean {
  if (language !== 'python') return scriptRuns.test(text)
  return pythonRuns.test(text) || (pythonSystem.test(text) && hasSystem.test(text))
}

function mayCollect(language: CodeLanguage, text: string): boolean {
  if (data.test(text) || builtHost.test(text)) return true
  return language === 'python' ? listens.test(text) : hasEnvironment.test(text) && environment.test(text)
}

/** Programs of the network, and ways to run what comes from it. */
const shellNetwork = regexWith(
  'i',
)`\b(curl|wget2?|aria2c|nc|ncat|netcat|socat|telnet|scp|sftp|rsync|rclone|ftp|xh|https?|
  s_client|mail|dig|nslookup|gist|s3|gsutil|croc)\s|/dev/(tcp|udp)\b|\bgit\s(add|push|clone)|\bpython\d?\s-m\shttp`
/** Operations that hide a text or the name of a program. */
const shellHiding = regexWith('i')`\b(base64|base32|xxd|openssl|uudecode|rev|tr|eval|source|printf|gunzip|zcat)\b|
  \$['\{(]\w{0,20}[\\:/]|(?<=\w)(""|'')(?=\w)|["']\w{1,8}["']\w|\w\\\w|\$\{?\w{1,20}\}?\$\{?\w|\$0|
  \$\{!|^\s{0,8}\{\w{1,12},`
/** Files that others run or obey, rights, and data that may be lost. */
const shellGrave = regexWith('i')`rc\b|profile|authorized_keys|cron|systemd|launch(agents|daemons|ctl)|autostart|hooks|
  \bat\s|sudoers|chmod\s|setcap|setenforce|\bufw\b|iptables|spctl|quarantine|sslverify|\brm\s|\bdd\s|mkfs|wipefs|
  \bshred\b|/dev/[shv]d|nvme|-delete\b|claude|agents\.md|mcp\.json|settings\.json|gemini\.md|soul\.md|\b(python|node|
  perl|ruby)\d?\s-[ce]\b|systemctl|\bngrok|mkfifo|-R\s\d`

/** Whether a shell script can do anything that a rule is about. */
function mayMatterInShell(text: string): boolean {
  return shellNetwork.test(text) || shellHiding.test(text) || shellGrave.test(text)
}

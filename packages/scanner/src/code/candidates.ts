import { regex, regexWith } from '../regex.ts'
import type { CodeLanguage } from './parts.ts'

/** Words that run a text or a program, and ways to name functions without writing their name. */
const pythonRuns = regex`\b(eval(?!\(\s?\))|exec|execfile|popen|startfile|subprocess|spawn\w{0,4}|fork|getattr|__import__|
  import_module|runpy|(?<!\bre\.)compile|pickle|dup2|pty)\b\s?["'\x60]?[\s(.,)\]:]|\b(FunctionType|CodeType|posix|nt)\b|
  \bsystem\s?["'\x60]?[()\]]|\b(os\s?\.\s?|import\s[^\n]{0,80})system\b|\b(builtins|__builtins__|globals\(\))\s?\[`
const scriptRuns = regex`\b((eval|exec|Function|spawn\w{0,4}|fork|compile|Bun|Deno)\b\s?["'\x60]?[\s(.,)\]:]|
  (child_process|execa|shelljs|vm|_compile)\b|require\s?\(\s?[^"'\s)]|import\s?\(|(globalThis|global|window|self)\s?\[|
  set(Timeout|Interval)\s?\(\s?(["'\x60]|await|atob)|constructor(\s?:|(?<=[.["'\x60]\s?constructor)\b(?!\.name\b)))`
/** A name in two short pieces. */
const pieces = /["'`][\w.]{1,12}["'`]\s?\+\s?["'`]\w{1,12}["'`]/
/** Words of the network, also in commands. */
const network = regexWith('i')`\b(fetch|axios|got|ky|needle|superagent|undici|https?|request|requests|httpx|aiohttp|
  urlopen|urllib\d?|urlretrieve|socket|websocket|ws|net|dns|smtplib|ftplib|paramiko|boto3|sendBeacon|XMLHttpRequest|
  nodemailer|curl|wget|nc|tls|dgram|telnet|upload\w{0,12})\b`
const installs = /\b(?:install|add)\b/
/** Words that decode a text. */
const decodes = regexWith('i')`atob|base64|b64|b32decode|b85decode|fromhex|unhexlify|["']hex["']|fromCharCode|
  fromCodePoint|\bchr\b|codecs|rot_?13|unescape|decodeURI|zlib|inflate|gunzip|decompress|marshal|\[::-1\]|reverse|
  \^|maketrans|bytes(array)?\s?\(\s?\[|charCodeAt|\bxor|\\x[\da-f]{2}\\x|decrypt`
/** Functions and methods that send data; an address alone sends nothing. */
const sends = regex`\b(fetch|axios|got|ky|needle|superagent|phin|undici|https?(?!:/)|requests|httpx|aiohttp|urlopen|urllib\d?|
  urlretrieve|wget|[sS]ocket|WebSocket|ws|net|dns|smtplib|ftplib|paramiko|boto3|sendBeacon|XMLHttpRequest|nodemailer|
  curl|nc|tls|dgram|telnet)\b|["']request["']|\bupload_|\.(post|put|put_object|sendall|sendto|sendmail|send_message)\b`
/** Stores of secrets and other data of the user. */
const secrets = regexWith('i')`\benviron|getenv|["'\x60/]\.env\b|toObject|\.ssh|id_(rsa|ed25519|dsa|ecdsa)|\.aws|
  \.kube|gnupg|netrc|npmrc|pypirc|git-credentials|credential(?!s\s?:)|["'\x60/\\]cookies\b|login data|logins\.json|
  key4\.db|\bwallet\.dat|["'\x60/\\]wallets?\b|keychain|keyring|keytar|169\.254|metadata\.google|homedir|expanduser|
  path\.home|_history|["'\x60/\\]history["'\x60]|clipboard|pyperclip|imagegrab|screenshot|\bmss\b|pynput|\bkeyboard\.|
  browser_cookie|rookiepy|["'\x60/]g?shadow\b|CryptUnprotectData|\.docker|gcloud|\.azure|userprofile|\$HOME|
  ["'\x60]/home/?["'\x60]|~/`
/** The environment as a whole, or a variable of it with a secret or a folder. */
const environment = regex`\benv\b(?!\??\.(?!\w{0,40}(KEY|TOKEN|SECRET|PASS|PAT|CRED|MNEMONIC|SEED|AUTH|HOME|PROFILE|DATA))\w)`
const hasEnvironment = /\b(?:process|Bun|Deno)\b/
/** Files that others run or obey. */
const planted = regexWith('i')`\.(bashrc|zshrc|zshenv|zprofile|profile|bash_profile|xprofile|xinitrc)\b|config\.fish|
  authorized_keys|cron|launch(agents|daemons)|systemd|autostart|start menu|currentversion|\.git/hooks|hooks["'/]|
  sitecustomize|\.pth\b|ld\.so\.preload|claude|agents\.md|mcp\.json|cursorrules|settings\.json|gemini\.md|soul\.md`
const writes = /writ|append|open|copy|rename|rmtree|rmSync|\brm\b|unlink/i
/** Functions that delete or change rights. */
const grave = /rmtree|rmSync|rmdir|\bchmod|unverified_context|rejectUnauthorized|NODE_TLS|verify\s?[=:]\s?False/

/** Whether code can do anything that a rule is about. Most code cannot, and need not be read. */
export function mayMatter(language: Exclude<CodeLanguage, 'shell'>, text: string): boolean {
  const isRunning = (language === 'python' ? pythonRuns : scriptRuns).test(text)
  if (isRunning && (network.test(text) || decodes.test(text) || installs.test(text))) return true
  if (pieces.test(text)) return true
  if (sends.test(text) && mayReadSecrets(language, text)) return true
  return (writes.test(text) && planted.test(text)) || grave.test(text)
}

function mayReadSecrets(language: CodeLanguage, text: string): boolean {
  if (secrets.test(text)) return true
  return language !== 'python' && hasEnvironment.test(text) && environment.test(text)
}

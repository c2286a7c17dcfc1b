import { regexWith } from '../regex.ts'

/** Words that run a text or a program, and ways to name functions without writing their name. */
const runs = regexWith('i')`\b(eval|exec|execfile|function|system|popen|startfile|subprocess|child_process|spawn\w{0,4}|
  fork|getattr|__import__|import_module|runpy|compile|constructor|execa|shelljs|pickle|dup2|pty)\b\s?["'\x60]?[\s(.,)\]:]|
  \bvm\b|\brequire\s?\(\s?[^"'\s)]|\bimport\s?\(|\b(globalThis|global|window|self|builtins|__builtins__|globals\(\))\s?\[`
/** A name in two short pieces. */
const pieces = /["'`][\w.]{1,12}["'`]\s?\+\s?["'`]\w{1,12}["'`]/
/** Words of the network. */
const network = regexWith('i')`\b(fetch|axios|got|ky|needle|superagent|undici|https?|request|requests|httpx|aiohttp|
  urlopen|urllib\d?|urlretrieve|socket|websocket|ws|net|dns|smtplib|ftplib|paramiko|boto3|sendBeacon|XMLHttpRequest|
  nodemailer|curl|wget|nc|tls|dgram|telnet|upload\w{0,12})\b`
const installs = /\b(?:install|add)\b/
/** Words that decode a text. */
const decodes = regexWith('i')`atob|base64|b64|b32decode|b85decode|fromhex|unhexlify|["']hex["']|fromCharCode|
  fromCodePoint|\bchr\b|codecs|rot_?13|unescape|decodeURI|zlib|inflate|gunzip|decompress|marshal|\[::-1\]|reverse|
  \^|maketrans|bytes(array)?\s?\(\s?\[|charCodeAt|\bxor|\\x[\da-f]{2}\\x|decrypt`
/** Stores of secrets and other data of the user. */
const secrets = regexWith('i')`\benviron\b|getenv|process\.env|\benv\b|toObject|\.ssh|id_(rsa|ed25519|dsa|ecdsa)|\.aws|
  \.kube|gnupg|netrc|npmrc|pypirc|git-credentials|credential|cookies|login data|logins\.json|key4\.db|wallet|keychain|
  keyring|keytar|169\.254|metadata\.google|homedir|expanduser|path\.home|history|clipboard|pyperclip|imagegrab|
  screenshot|\bmss\b|pynput|keyboard|browser_cookie|rookiepy|shadow|CryptUnprotectData|\.docker|gcloud|\.azure|\.env\b|
  userprofile|\$HOME|/home/|/Users/|~/`
/** Files that others run or obey. */
const planted = regexWith('i')`\.(bashrc|zshrc|zshenv|zprofile|profile|bash_profile|xprofile|xinitrc)\b|config\.fish|
  authorized_keys|cron|launch(agents|daemons)|systemd|autostart|start menu|currentversion|\.git/hooks|hooks["'/]|
  sitecustomize|\.pth\b|ld\.so\.preload|claude|agents\.md|mcp\.json|cursorrules|settings\.json|gemini\.md|soul\.md`
const writes = /writ|append|open|copy|rename|rmtree|rmSync|\brm\b|unlink/i
/** Functions that delete or change rights. */
const grave = /rmtree|rmSync|rmdir|\bchmod|0o?[46][0-7]{3}|unverified|rejectUnauthorized|NODE_TLS|verify\s?[=:]\s?False/

/** Whether code can do anything that a rule is about. Most code cannot, and need not be read. */
export function mayMatter(text: string): boolean {
  const isRunning = runs.test(text)
  const isOnline = network.test(text)
  if (isRunning && (isOnline || decodes.test(text) || installs.test(text))) return true
  if (pieces.test(text)) return true
  if (isOnline && secrets.test(text)) return true
  return (writes.test(text) && planted.test(text)) || grave.test(text)
}

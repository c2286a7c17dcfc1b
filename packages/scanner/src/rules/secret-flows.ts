import type { Combination, Fact, Pattern, Rule } from '../match/rule.ts'
import { keyFile, keyFileAnchors, lineStop, publicIp } from './shapes.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const references = [
  'https://attack.mitre.org/techniques/T1552/',
  'https://attack.mitre.org/techniques/T1041/',
  'https://cwe.mitre.org/data/definitions/522.html',
]

/** Commands that print a token or a password of the user. */
const printsToken = regex`\b(gh auth token|aws sts (get-session-token|assume-role)|
  aws configure (get|export-credentials)|aws secretsmanager get-secret-value|gcloud auth (application-default )?
  print-(access|identity)-token|az account get-access-token|security find-(generic|internet)-password|
  secret-tool (lookup|search)|op (read|item get)|pass show|bw get|git credential fill|kubectl get secrets?|
  vault (kv get|read)|doppler secrets|heroku auth:token|npm token list|docker-credential-\w{2,20} get|ssh-add -l|
  gpg2? [^\n\uE000|]{0,20}--export-secret-keys?|history)\b`
const tokenAnchors = [
  'auth token',
  'aws sts',
  'aws configure',
  'secretsmanager',
  'gcloud auth',
  'get-access-token',
  'find-generic',
  'find-internet',
  'secret-tool',
  'op read',
  'op item',
  'pass show',
  'bw get',
  'credential fill',
  'get secret',
  'vault ',
  'doppler secrets',
  'auth:token',
  'token list',
  'docker-credential',
  '--export-secret',
  'history |',
]
const sends = regex`\|\s?([\w-]{1,12}\s(-\w{1,10}\s){0,2}[^\n\uE000|]{0,20}\|\s?){0,2}
  (curl|nc|ncat|netcat|wget|socat|telnet|mail)\b`
const personal = regex`(~|\$\{?home\}?|/home|/root|/users|/etc)(/[\w.*$-]{1,30}){0,3}/?`

/** Commands that print a secret and send the output. */
export const printedAndSent: readonly Pattern[] = [
  within(100, lineStop, tokenAnchors)`${printsToken} … ${sends}`,
  containing(tokenAnchors)`${printsToken}[^\n\uE000|;&]{0,80}>\s?["']?(?<file>[\w./~$-]{2,50})[^]{0,120}?\b
    (curl|wget)\b{0-80 in line}(-t\s?|@|--upload-file[ =]|--(post|body)-file=)["']?(?=\k<file>)[\w./~$-]{2,50}`,
  within(120, lineStop, 'grep|findstr|rg ')`\b(grep|rg|findstr)\s[^\n\uE000|]{0,80}(akia|ghp_|sk-|token|secret|passw|
    api_?key|private key|begin rsa)
    … ${sends}`,
  within(80, lineStop, 'tar |zip ')`\b(tar|zip)\s([\w-]{1,20}\s){0,3}(-f?\s?-?\s?)?${personal}(?=\s|$) … ${sends}`,
  containing(keyFileAnchors)`\bfor (?<each>\w{1,12}) in {0-60 in line}${keyFile}{0-60 in line}(;|\n)\s?do\b
    [^]{0,120}?\b(curl|nc|wget|scp|ncat)\b{0-120 in line}\$\{?(?=\k<each>)\w{1,12}`,
]

/** A program that stores a token in a variable and sends the variable. */
export const tokenSent: Pattern = containing(`
  auth token|"auth"|'auth'|aws configure|"configure"|'configure'|gcloud auth|find-generic|find-internet|
  secret-tool|git credential|"credential"|'credential'`)`
  \b(?<held>\w{2,20})\s?=\s?{0-50 in line}\b
  (gh["',\s]{1,5}auth["',\s]{1,5}token|aws["',\s]{1,5}configure["',\s]{1,5}(get|export-credentials)|
  gcloud["',\s]{1,5}auth["',\s]{1,5}print-|find-(generic|internet)-password|secret-tool["',\s]{1,5}lookup|
  git["',\s]{1,5}credential["',\s]{1,5}fill)[^]{0,200}?\b(json|data|params|body)["']?\s?[=:]\s?{0-40 in line}\b
  (?=\k<held>\b)\w{2,20}`

/** Requests of commands and programs to stores of secrets. */
export const storesAsked: readonly Pattern[] = [
  regex`\bpasswordvault\b{0-80 in line}retrieveall\s?\(`,
  regex`\bfind-(generic|internet)-password\b[^\n\uE000|;]{0,60}(chrome|chromium|brave|microsoft edge|firefox|
    safe storage|slack|signal|icloud|safari)`,
  /\bgit credential fill\b|\bgit credential-\w{3,20} get\b/,
  regex`\bkubectl get secrets?\b(?={0-80 in line}(--all-namespaces|\s-a\b)){0-80 in line}\s(-o|--output)[ =]?(yaml|json|
  jsonpath|go-template)|
    \baws configure (get (\w{1,20}\.){0,2}aws_secret_access_key|export-credentials)\b`,
  regex`/proc/(\*?|\[0-9\]\*?|\$\{?\w{1,12}\}?|\d{1,6})/environ\b`,
]

/** A search of the home folder for key files. */
export const homeSearched: Pattern = regex`
  (\bos\.walk|\brglob|\bglob\w{0,5}|\breaddir\w{0,4}|\bwalkdir|\bfilepath\.walk\w{0,3}|\bscandir)\s?\(\s?
  {0-40 in line}(expanduser|homedir|path\.home|userhomedir|["']~)[^]{0,260}?(\bid_(rsa|ed25519)|\.pem\b|\bwallet|
  \.kdbx\b|\.key\b|\bcredentials?\b|\bpassword|\bseed\b)`

const category = 'exfiltration'
const remediation = 'Remove it. No skill needs to send keys, tokens or files of its user to another machine.'

export const rules: readonly Rule[] = [
  {
    id: 'home-sent',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Copies the user’s files to another machine',
    why: 'A home folder contains messages, keys and the work of other projects.',
    remediation: 'Name the file to send, and ask the user first.',
    references,
    patterns: [
      containing('rsync|scp ')`\b(rsync|scp)\s(-(?!e|i)\w{1,12}\s|--\w[\w-]{1,20}\s){0,4}["']?(~|\$\{?home\}?|/home|
        /root|/users)(/(\w{1,20}|\.\w{2,12}|\*))?/?["']?\s{0-20 in line}[\w.-]{1,30}@[\w.$-]{3,60}:`,
      containing('rsync|scp |nc |ftp ')`\b(rsync|scp|ncat|nc|ftp)\s[^\n\uE000|;]{0,80}[\s@]${publicIp}[:\s]`,
      regex`\bfind\s(~|\$\{?home\}?|/home|/users|/root|/)\s{0-100 in line}-exec\s(curl|scp|nc|wget|ncat)\b`,
      within(60, lineStop)`\bgit (archive|bundle create)\b … ${sends}`,
      within(
        60,
        lineStop,
        'tar |zip ',
      )`\b(tar\s-?\w{0,4}c\w{0,4}|zip\s-\w{0,4}r\w{0,4})\s[^\n\uE000|]{1,60} … \|\s?(nc|ncat|
      netcat)\s{0-20 in line}(${publicIp}|
        [\w-]{1,30}\.[\w.-]{2,40})\s\d`,
      regex`\bgh gist create\s{0-40 in line}(--public|-p)\s{0-40 in line}(\$\(|\*|~|\.env|\x60)`,
      regex`\brclone\s(copy|sync)\s["']?(~|\$\{?home\}?|/home|/root|/users)/?["']?\s`,
      regex`\bgit push\s{0-30 in line}(--mirror|--all)\b{0-30 in line}>\s?/dev/null`,
    ],
  },
]

export const facts: readonly Fact[] = [
  {
    id: 'names-key-file',
    patterns: [containing(keyFileAnchors)`(?<!-i\s?["']?[\w./~$\{}-]{0,30})${keyFile}`],
  },
  {
    id: 'uploads',
    patterns: [
      containing('curl|wget|requests.post|fetch(|fetch (|axios|invoke-|httpx.post')`
        \bcurl\b{0-120 in line}\s(-f\s|-t\s?|-d\s?["']?@|--data-binary\s?["']?[@$]|--upload-file|--form\s)|
        \bwget\b{0-60 in line}--(post|body)-file|\b(requests|httpx|axios)\.(post|put)\s?\(|
        \bfetch\s?\([^\uE000]{0,120}\bmethod["']?\s?:\s?["'](post|put)|\binvoke-(restmethod|webrequest)\b
        {0-120 in line}-(body|infile)\b`,
    ],
  },
  {
    id: 'sends-in-address',
    patterns: [
      regex`https?://[^\s"'\uE000]{4,80}[?&](\w{1,10}=)?(\$\{?(d|data|k|key|b64|enc\w{0,8}|payload|content|secret|
        token|creds?)\b|["'\x60]\s?[+.]\s?\$?\w)`,
    ],
  },
  {
    id: 'captures-user',
    patterns: [
      regex`\bpyperclip\.paste\s?\(|\bpbpaste\b|\bxclip\s{0-30 in line}-o\b|\bget-clipboard\b|
        \bclipboard\.(readtext|get_?text|paste)\s?\(|\bimagegrab\.grab\s?\(|\bscreencapture\s-\w|\bmss\.mss\s?\(|
        \bpyautogui\.screenshot\s?\(|\bscrot\s`,
    ],
  },
  {
    id: 'browser-cookies',
    patterns: [/\bbrowser_?cookie3?\.\w{3,10}\s?\(|\brookiepy\.\w{3,10}\s?\(/],
  },
]

export const combinations: readonly Combination[] = [
  {
    id: 'key-file-near-send',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Names a file of keys, and sends data a few lines away',
    why: 'The data sent may be the named file.',
    remediation,
    references,
    all: [['names-key-file'], ['uploads']],
    within: 4,
  },
  {
    id: 'watched-and-sent',
    category: 'credential-access',
    severity: 'critical',
    signal: 'hostile',
    title: 'Reads the clipboard or the screen, and sends it',
    why: 'The clipboard and the screen may show passwords and private messages.',
    remediation: 'Ask the user for the required input.',
    references: ['https://attack.mitre.org/techniques/T1113/', 'https://attack.mitre.org/techniques/T1115/'],
    all: [['captures-user'], ['uploads', 'sends-data']],
    within: 6,
  },
  {
    id: 'cookies-sent',
    category: 'credential-access',
    severity: 'critical',
    signal: 'suspicious',
    title: 'Reads the cookies of a browser, and sends them',
    why: 'The cookies open every account that the user is signed in to.',
    remediation: 'Let the user sign in, or use a token created for this purpose.',
    references: ['https://attack.mitre.org/techniques/T1539/', ...references],
    all: [['browser-cookies'], ['uploads', 'sends-data']],
    within: 8,
  },
]

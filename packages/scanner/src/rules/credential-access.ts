import { secretsTaken } from './secret-sentences.ts'
import type { Rule } from '../match/rule.ts'
import { homeSearched, storesAsked } from './secret-flows.ts'
import { commandStop, keyFile, keyFileAnchors } from './shapes.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'credential-access'
const references = [
  'https://attack.mitre.org/techniques/T1552/',
  'https://attack.mitre.org/techniques/T1555/',
  'https://cwe.mitre.org/data/definitions/522.html',
]
const remediation =
  'Let the programs that own the keys use them (ssh-agent, the vendor’s client); do not read their files.'

/** Files of secrets of several programs, in a list of paths. */
const secretPath = regex`(\.claude/\.?credentials|\.codex/auth|\.config/(gh/hosts|gcloud)|\.docker/config|
  application_default_credentials|\.aws/credentials|\.ssh/id_\w{1,8}|\.netrc|\.npmrc|\.pypirc|\.git-credentials|
  \.kube/config)`

/** Rules about reading credentials of accounts and machines. */
export const rules: readonly Rule[] = [
  {
    id: 'key-file-read',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Reads private keys or stored credentials',
    why: 'A person who has read them can act as the user, on this machine and on others.',
    remediation,
    references,
    patterns: [
      within(
        100,
        regex`${commandStop}|[;|>]|\bnot\b|\bformat of\b`,
        keyFileAnchors,
      )`\b(cat|less|more|head|tail|type|base64|xxd|
        strings|get-content|gc|tar|zip|cp|scp|rsync|open|readfile(sync)?|read_text|read_bytes|file_get_contents|
        file\.read|reads?|contents? of|text of|print|copy|copies|collects?|gathers?|access|expanduser|expand_path|
        glob|dump|steal|harvest|extract|grab|find|fetch(es)?|retrieves?|obtains?|decrypts?|decodes?|looks? (through|in|into)|scans?)\b
        … (?!(?<=authorized_keys \S{0,40})\.ssh/?(?=[\s\uE000]|$))${keyFile}`,
      regex`\b(file_get_contents|file\.read|readfile(sync)?|ioutil\.readfile|fopen)\s?\({0-60 in line}${keyFile}`,
      regex`\b(expanduser|path\.join|filepath\.join|file\.join|file\.expand_path|os\.path\.join|path\.home|homedir|
        readdir(sync)?|listdir|glob|expand)\s?\(\s?{0-40 in line}["'/](\.ssh|\.aws|\.gnupg|\.kube|\.netrc|\.npmrc|
        \.docker|\.pypirc|\.git-credentials)\b(?!/(config|known_hosts|[\w.-]{1,30}\.pub)["'])`,
    ],
  },
  {
    id: 'credential-sweep',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Lists the stored credentials of several programs',
    why: 'A task needs at most one account; a list of all credentials serves to steal them.',
    remediation,
    references,
    patterns: [
      containing(
        'credentials|auth.json|hosts.yml|config.json|id_|.netrc|.npmrc|.pypirc|.kube',
      )`["'\x60][~/\w.$\{}-]{0,20}${secretPath}[\w./]{0,8}["'\x60],\s?["'\x60][~/\w.$\{}-]{0,20}${secretPath}`,
      homeSearched,
      containing('tojson(secrets|tojson( secrets')`\btojson\(\s?secrets\s?\)`,
      containing(`.ssh"|.ssh'|.aws"|.aws'|.gnupg"|.gnupg'|.kube"|.kube'`)`["'](~/)?\.(ssh|aws|gnupg|kube|azure|
        docker)["'][^\uE000]{0,120}["'](~/)?\.(ssh|aws|gnupg|kube|azure|docker|netrc|npmrc|config)["'][^\uE000]{0,8}`,
      containing('.ssh|.aws|.netrc|.npmrc|.pypirc|.git-credentials|.kube|.gnupg|gcloud|.azure')`
        (~|\$home|\$\{home\}|%userprofile%|/root|/home/\w{1,20}|["'])/?\\?\.(ssh|aws|netrc|npmrc|pypirc|
        git-credentials|kube|gnupg|azure|docker|bash_history|zsh_history|config[/\\](gcloud|gh|hub))\b
        (?!/(config|known_hosts)\b)[\w./-]{0,24}["'\x60,;\s\uE000\\)\]]{1,6}(\w{1,12}:? ?["']?|# [\w ]{0,30}\s){0,2}
        ["']?(~|\$home|\$\{home\}|%userprofile%|/root|/home/\w{1,20}|["'])?/?\\?\.(ssh|aws|netrc|npmrc|pypirc|
        git-credentials|kube|gnupg|azure|docker|config[/\\](gcloud|gh|hub))\b(?!/known_hosts\b)[\w./-]{0,24}
        ["',;\s\uE000\\)\]]{1,6}(\w{1,12}:? ?["']?){0,2}["']?(~|\$home|\$\{home\}|%userprofile%|/root|/home/\w{1,20}
        |["'])?/?\\?\.(ssh|aws|netrc|npmrc|pypirc|git-credentials|kube|gnupg|azure|docker|m2|
        config[/\\](gcloud|gh|hub))\b`,
      regex`\bfind\s(/|~|\$home|/home|/users|c:\\)/?\s{0-120 in line}-i?name\s["'\\]{0,2}[^\n\uE000"']{0,12}
        (\.pem|\.key|\.p12|\.pfx|\.kdbx|credential|secret|password|id_rsa|\.env|wallet)\b`,
      regex`\bgrep\s-\w{0,6}r\w{0,6}\s(-\w{1,8}\s){0,3}["']?{0-40 in line}(password|passwd|secret|api_?key|token|
        private key){0-60 in line}["']?\s(/(home|etc|root|users|var)?|~|\$home)/?(?=[\s"'\n\uE000]|$)`,
    ],
  },
  {
    id: 'browser-store-read',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Reads the passwords or cookies that a browser stores',
    why: 'Stored passwords and cookies open every account that the user is signed in to.',
    remediation: 'Let the user sign in, or use a token created for this purpose.',
    references: ['https://attack.mitre.org/techniques/T1555/003/', 'https://attack.mitre.org/techniques/T1539/'],
    patterns: [
      ...secretsTaken,
      containing(
        'local storage/|leveldb|/cookies',
      )`\b(strings|grep|sqlite3|cat|cp|readfile\w{0,4}|open|read)\b{0-80 in line}(local storage/leveldb|
        /cookies["'\x60]{0-40 in line}\bselect\b)`,
      regex`["'/\\]login data["'/\\)]|\blogins\.json\b{0-120 in line}|\bkey4\.db\b|\bcookies\.sqlite\b|
        \bcryptunprotectdata\b|\bchrome safe storage\b`,
      regex`(google[/\\]chrome|google-chrome|brave-browser|microsoft[/\\]edge)[/\\](user data[/\\])?
        (default|profile \d)[/\\]["'/\\\s,+)]{0,6}(network[/\\])?(cookies|login data|web data|local storage)\b|
        \bdefault[/\\](network[/\\])?(cookies|login data|web data)["'/\s,)]`,
      regex`\b(steal|dump|extract|harvest|exfiltrate|grab|collect|export|upload|send)(s|ing)? (all |the |user'?s? |
        saved |stored ){0,3}(browser |chrome |firefox ){1,2}(session )?(cookies|passwords|credentials|login data|
        session tokens)\b`,
    ],
  },
  {
    id: 'keychain-dump',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Copies the secrets that the operating system stores',
    why: 'A keychain contains the passwords of all programs of the user.',
    remediation,
    references: ['https://attack.mitre.org/techniques/T1555/001/', 'https://attack.mitre.org/techniques/T1003/'],
    patterns: [
      ...storesAsked,
      regex`\b(gcore|procdump(64)?|minidump|process_vm_readv|/proc/\S{1,12}/mem)\b{0-120 in line}\b(ssh-agent|gpg-agent|keepass\w{0,2}|1password|
        bitwarden|lastpass|lsass|keychain)\b|\b(ssh-agent|gpg-agent|keepass\w{0,2}|1password|bitwarden|lastpass|lsass)\b[^\uE000]{0,80}?\b
        (gcore|procdump(64)?|minidump|process_vm_readv)\b`,
      regex`\bsecurity["',\s]{1,5}(dump-keychain\b|export\s-)|\bsekurlsa::|\bprocdump(64)?(\.exe)?\s{0-40 in line}
        lsass|\bcomsvcs\.dll{0-40 in line}minidump|\bvaultcmd\s/list|\breg(\.exe)?\ssave\s"?hklm\\
        (sam|system|security)\b|\blazagne(\.exe|\.py)?\s(all|browsers)`,
      regex`\bgpg2?["',\s]{1,5}([\w-]{1,20}["',\s]{1,5}){0,4}--export-secret-(sub)?keys?\b`,
      regex`["']op["'],\s?["']item["'],\s?["'](list|get)["']|\bbw\s(list items|export)\b{0-80 in line}--raw|
        \blpass\sexport\b`,
    ],
  },
  {
    id: 'key-from-keychain',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Asks the system’s keychain for a password',
    why: 'A script that reads a password can print it or pass it on.',
    remediation: 'Request only the keychain entry that belongs to the skill.',
    references,
    patterns: [regex`\bfind-(generic|internet)-password\b|\bsecret-tool\slookup\b|\bcmdkey\s/list\b`],
  },
  {
    id: 'wallet-read',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Reads the user’s cryptocurrency wallets',
    why: 'A person who has the keys of a wallet can take its content, irreversibly.',
    remediation: 'Let the user sign each transaction with their own wallet.',
    references: ['https://attack.mitre.org/techniques/T1657/', ...references],
    patterns: [
      regex`\bnkbihfbeogaeaoehlefnkodbefgpgknn\b|\bwallet\.dat\b|(\.electrum|exodus|atomic|electrum)[/\\]
        (wallets|exodus\.wallet|local storage)\b|\.ethereum[/\\]keystore\b`,
      regex`\b(steal|harvest|exfiltrate|grab|upload|scan for|search for|collect)(s|ing)? {0-4 words}
        (wallet |crypto )?(seed phrases?|recovery phrases?|mnemonics?|wallet (private )?keys?)\b`,
    ],
  },
  {
    id: 'password-file-read',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Reads the system’s file of accounts',
    why: 'The file shows an attacker whose passwords to search for.',
    remediation: 'Query the one account that is needed, with `id` or `getent`.',
    references: ['https://attack.mitre.org/techniques/T1003/008/', ...references],
    patterns: [
      within(60, commandStop)`\b(cat|less|head|tail|read|open|curl|cp|access|get|base64|send|dump|copy|post|upload)\b
        … (?<!\.\.)/etc/passwd\b|/etc/g?shadow\b`,
    ],
  },
  {
    id: 'shell-history-read',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Reads the history of the user’s shell',
    why: 'A shell history contains passwords and tokens that were typed in commands.',
    remediation: 'Ask the user for the command in question.',
    references: ['https://attack.mitre.org/techniques/T1552/003/'],
    patterns: [
      within(60, commandStop)`\b(cat|tail|head|grep|read|open|cp|copy|get-content|type|collect|strings|less|
        expanduser|readfile(sync)?)\b
        … \.(bash|zsh|sh|python|mysql|psql|node_repl)_history\b|\bconsolehost_history\.txt\b|\bfish_history\b`,
    ],
  },
  {
    id: 'cloud-identity-read',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Requests the machine’s credentials from the cloud provider',
    why: 'The credentials grant all rights of the machine, and work from anywhere.',
    remediation: 'Use the cloud provider’s library, which requests credentials itself.',
    references: ['https://attack.mitre.org/techniques/T1552/005/', 'https://cwe.mitre.org/data/definitions/918.html'],
    patterns: [
      regex`(169\.254\.169\.254|metadata\.google\.internal|169\.254\.170\.2)/
        (latest/(meta-data/iam|user-data|api/token)|computemetadata/v1/[\w/-]{0,60}(token|service-accounts)|
        metadata/identity|v2/credentials|latest/meta-data/?(?=["'\s]))`,
    ],
  },
]

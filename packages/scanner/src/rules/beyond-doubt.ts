import type { Pattern, Rule } from '../match/rule.ts'
import { blockStop, keyFile, keyFileAnchors } from './shapes.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

/** Commands without spaces, which filters miss and a shell accepts: `cat${IFS}/etc/passwd`, `{curl,-s,...}`. */
const spacesHidden: Pattern = regex`
  \b(cat|curl|wget|bash|sh|nc|rm|chmod|base64|python\d?|echo|ls|eval)\$\{?ifs\b|\$\{?ifs\}?\$\{?\d|
  (?<![\w$/])\{(curl|wget|cat|nc|bash|sh|rm|echo|base64),[^\n\uE000{}]{1,160}\}`

const plunder = [
  'https://attack.mitre.org/techniques/T1555/',
  'https://attack.mitre.org/techniques/T1003/',
  'https://cwe.mitre.org/data/definitions/522.html',
]
const remediation = 'Remove it.'

/** Rules about actions that no task needs: a single match is enough for the verdict `dangerous`. */
export const rules: readonly Rule[] = [
  {
    id: 'stores-plundered',
    category: 'credential-access',
    severity: 'critical',
    signal: 'hostile',
    title: 'Copies all passwords that a browser or operating system stores',
    why: 'The passwords open every account of the user.',
    remediation,
    references: plunder,
    patterns: [
      regex`\bselect\b{0-80 in line}\bpassword_value\b{0-40 in line}\bfrom logins\b`,
      regex`\b(copy|cp|copy-item|shutil\.copy\w{0,4}|copyfile\w{0,4}|sqlite3|curl|tar|zip|scp|base64)\b
        {0-160 in line}([/\\"']login data\b|\bkey4\.db\b|\blogins\.json\b)`,
      regex`\bsecurity dump-keychain\b|\bsekurlsa::logonpasswords|\bcomsvcs\.dll{0-40 in line}minidump|
        \bpasswordvault\b{0-80 in line}retrieveall\s?\(|\bprocdump(64)?(\.exe)?\s{0-40 in line}lsass|
        \breg(\.exe)? save "?hklm\\sam|\blazagne(\.exe|\.py)? all\b`,
      containing(keyFileAnchors)`\b(cat|head|tail|tar|zip|cp|base64|get-content|type)\s(-{0,2}[\w.=/-]{1,30}\s){0,4}
        ["']?([~$\w{}.%-]{0,20}[/\\]){0,4}${keyFile}[\w./*-]{0,30}["']?\s(-\w\s)?["']?([~$\w{}.%-]{0,20}[/\\]){1,4}
        ${keyFile}`,
    ],
  },
  {
    id: 'way-back-left',
    category: 'persistence',
    severity: 'critical',
    signal: 'hostile',
    title: 'Leaves another person permanent access to the machine',
    why: 'The added key, account or root shell remains after the skill is removed.',
    remediation,
    references: ['https://attack.mitre.org/techniques/T1098/004/', 'https://attack.mitre.org/techniques/T1548/001/'],
    patterns: [
      regex`\b(ssh-(rsa|ed25519|dss)|ecdsa-sha2-\w{4,12})\s[a-z0-9+/]{8,800}{0-60 in line}(>>?|tee -a)\s?["']?
        [\w~$/{}.-]{0,40}authorized_keys\b`,
      regex`\b(open|appendfile\w{0,4}|writefile\w{0,4})\s?\({0-60 in line}authorized_keys["'][^]{0,120}\b
        (ssh-(rsa|ed25519)|ecdsa-sha2)\S{0,12}\s[a-z0-9+/]{8,60}`,
      regex`\bcp\s(-\w{1,3}\s)?(/usr)?/bin/(ba|z|da)?sh\s[^\n\uE000;&]{1,60}(&&|;|\n)\s?(sudo )?
        (chown\s[^\n\uE000;&]{1,60}(&&|;|\n)\s?(sudo )?)?chmod\s([ug]{0,2}\+s|[46]7[0-7]{2})|
        \bchmod\s([ug]{0,2}\+s|[46]7[0-7]{2})\s(/usr)?/bin/(ba|z|da)?sh\b`,
      regex`\buseradd\s{0-40 in line}-(o\w?\s?-?u|ou|u)\s?0\b|\becho\s["']?\w{1,20}:[^:\n]{0,120}:0:0:{0-60 in line}
        >>\s?/etc/passwd`,
    ],
  },
  {
    id: 'typing-logged',
    category: 'credential-access',
    severity: 'critical',
    signal: 'hostile',
    title: 'Records what the user types, or replaces what the user copied',
    why: 'Typed passwords are recorded in plain text; a replaced address sends the user’s money to an attacker.',
    remediation,
    references: ['https://attack.mitre.org/techniques/T1056/001/', 'https://attack.mitre.org/techniques/T1115/'],
    patterns: [
      within(260, /\uE000\uE000/)`\bon_press\b|\bkeyboard\.(on_press|on_release|hook|record)\b|\bgetasynckeystate\b|
        \bxinput test\w{0,4}\b
        … \bopen\s?\({1-60 in line},\s?["']a|\.write\s?\(|\.append\s?\(|\brequests\.post\b|\bsendall?\s?\(|
        \blogging\.(info|debug|basicconfig)\b|>>?\s?[/~$]`,
      regex`\b(xclip\s{0-30 in line}-o|pbpaste|get-clipboard|pyperclip\.paste|clipboard\.readtext)\b[^]{0,200}
        (bc1|\b0x[\da-f]{6}|\[13\]|\bbtc|\beth\b)[^]{0,160}(xclip|pbcopy|set-clipboard|pyperclip\.copy|
        clipboard\.writetext)\b`,
    ],
  },
  {
    id: 'host-taken',
    category: 'privilege',
    severity: 'critical',
    signal: 'hostile',
    title: 'Breaks out of a container into the host',
    why: 'A process that breaks out has all rights on the host.',
    remediation,
    references: ['https://attack.mitre.org/techniques/T1611/'],
    patterns: [
      within(140, blockStop)`\b(docker|podman|nerdctl|ctr)\b{0-60 in line}\brun\b
        … \bchroot\s/\w|\bnsenter\s{0-20 in line}(-t|--target)[ =]?1\b`,
      /\brelease_agent\b[^]{0,200}\bcgroup\.procs\b/,
    ],
  },
  {
    id: 'machine-wiped',
    category: 'destruction',
    severity: 'critical',
    signal: 'hostile',
    title: 'Destroys a whole system',
    why: 'The deleted data cannot be recovered.',
    remediation,
    references: ['https://attack.mitre.org/techniques/T1485/', 'https://attack.mitre.org/techniques/T1561/'],
    roles: ['script', 'instruction'],
    patterns: [
      regex`\brm\s-\w{1,6}\s[^\n\uE000;]{0,30}--no-preserve-root\b|\bdd\sif=/dev/(zero|u?random)\sof=/dev/
        (sda|nvme0n1|disk0|vda|xvda)\b|\bmkfs(\.\w{2,5})?\s(-\w{1,3}\s){0,2}/dev/(sda|nvme0n1|disk0|vda)\b(?!\d|p\d)
        |\bfind\s(/|~|\$home)\s{0-40 in line}-exec\sshred\b|\becho y ?\| ?format c:`,
    ],
  },
  {
    id: 'machine-code-run',
    category: 'remote-code',
    severity: 'critical',
    signal: 'hostile',
    title: 'Writes machine code into memory and runs it there',
    why: 'The code leaves no file on the disk that could be reviewed.',
    remediation,
    references: ['https://attack.mitre.org/techniques/T1055/', 'https://attack.mitre.org/techniques/T1620/'],
    patterns: [
      regex`\bvirtualalloc(ex)?\s?\({0-80 in line}0x40\b|\bcreateremotethread\s?\(|\bwriteprocessmemory\s?\(|
        \bmemfd_create\s?\([^]{0,240}\b(execve?|fexecve|os\.exec\w{1,4}|/proc/self/fd)\b`,
    ],
  },
  {
    id: 'disguised-command',
    category: 'obfuscation',
    severity: 'critical',
    signal: 'hostile',
    title: 'Disguises a command so that only a shell can read it',
    why: 'The disguise has no purpose except to evade reviewers and filters.',
    remediation: 'Write the command in plain text.',
    references: ['https://attack.mitre.org/techniques/T1027/010/'],
    patterns: [
      spacesHidden,
      regex`\|\s?\w{0,6}s(''|"")h\b`,
      containing('; echo|; $|&& $|;echo')`\b(?<one>[a-z_]\w{0,8})=["']?\w{1,10}["']?\s?(;|&&)\s?(?<two>[a-z_]\w{0,8})
        =["']?\w{1,10}["']?\s?(;|&&|\n){0-80 in line}(^|[\s;|&(])\$\{?(?=\k<one>\b)\w{1,9}\}?\$\{?(?=\k<two>\b)
        \w{1,9}`,
    ],
  },
]

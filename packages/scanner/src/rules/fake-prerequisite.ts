import { lockedPrograms } from './disguise-sentences.ts'
import type { Rule } from '../match/rule.ts'
import { installWordings } from './pressure-wordings.ts'
import { passageStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { within } from '../match/pattern-tags.ts'

const category = 'social-engineering'
const references = [
  'https://attack.mitre.org/techniques/T1204/',
  'https://attack.mitre.org/techniques/T1036/',
  'https://cwe.mitre.org/data/definitions/494.html',
]

/** Rules about persuading the user to install a program that the skill allegedly needs. */
export const fakePrerequisite: readonly Rule[] = [
  {
    id: 'password-archive',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Has a password-protected archive unpacked',
    why: 'An archive whose password is given next to it is encrypted only against scanners.',
    remediation: 'Publish the program unencrypted with its digest, or name its package.',
    references: [...references, 'https://attack.mitre.org/techniques/T1027/013/'],
    patterns: [
      ...lockedPrograms,
      within(140, passageStop, 'password|passcode|pass:|pw:|pass is|passwort|密码|пароль|contraseña')`
        \b((download|extract|unzip|unpack|unarchive|decompress|get|grab|open) [^\uE000]{0,120}?
        (\.(zip|rar|7z|exe|dmg|iso|msi)\b|archive|releases/download)|(extract|unzip|unpack|decompress) (it|
        the (file|files|contents?|folder))|\.(zip|rar|7z)\b)
        … ((pass(word|code)?|pw|passwort|密码|пароль|contraseña)( is| to (open|extract|unzip) {word}( is)?)?\s?[:=：(]
        \s?["']?[\w!@#$%-]{3,24}|(using|with|use|enter) (the )?pass(word|code|phrase)\s?:? ?["']?(?!from|you|in\b|
        manager|protect|that|your|of\b|set|if\b|for|and|or\b|as\b|is\b|was\b)[\w!@#$%-]{3,24}|
        \bpass(word|code)? is ["']?(?!required|not|needed|set|optional|stored|missing|incorrect|wrong|correct|empty|
        the\b|a\b|your)[\w!@#$%-]{3,24}|\b(unzip|7z x?|unrar x?|7za x?) ?-?p ?["']?[\w!@#$%-]{3,24})`,
      regex`\b(unzip (-\w{1,3} ){0,2}-P ["']?\w{3,24}|(7za?|unrar) [xe] (-\w{1,3} )?-p["']?\w{3,24})
        ["']? {0-60 in line}(\.zip|\.rar|\.7z|https?:)`,
    ],
  },
  {
    id: 'unofficial-installer',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Requires a program from an unofficial source',
    why: 'Attackers publish skills that require the user to install malware first.',
    remediation: 'Name a package of a package manager, or the vendor’s own page.',
    references,
    patterns: [
      ...installWordings,
      within(220, /\uE000\uE000/)`\b(important:?|required|mandatory|prerequisites?|(this|the) skill (requires|needs|
        will not (work|function)|does not work|cannot (work|run))|(must|need to|have to|please) (first )?
        (install|download|run)|(before|prior to) (using|proceeding|continuing|first use|use|starting|
        you (begin|start|use))|before (this|the) skill (can|will))\b
        … https?://(([\w.-]{1,40}\.)?(glot\.io|rentry\.(co|org)|pastebin\.com|paste\.\w{2,6}|hastebin\.com|
        ghostbin\.\w{2,4}|termbin\.com|transfer\.sh|mediafire\.com|mega\.nz|anonfiles\.com|gofile\.io|
        dropmefiles\.com|catbox\.moe|file\.io|cdn\.discordapp\.com|bit\.ly|tinyurl\.com|t\.ly|is\.gd|cutt\.ly|
        rb\.gy)/|
        (?!(127|10)\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|0\.0)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}[:/](?<!127\.0\.0\.1[:/])|[\w.-]{1,60}/[\w./%-]{0,100}\.
        (exe|msi|dmg|pkg|scr|bat|cmd|vbs|ps1|hta)\b)`,
      within(120, /\uE000\uE000/)`\b(install|download|get|run) (the )?(required |mandatory |official |latest |
        companion |external |necessary ){1,2}{0-2 words}(agent|utility|helper|driver|core|client|runtime|component|
        binary|executable|tool|daemon|bridge)\b( (utility|helper|core|driver|first|before)){0,2}( {word}){0,2}
        … (\bhttps?://([\w-]{1,40}\.){1,4}\w{2,10}/[\w./%-]{0,100}?(\.(sh|exe|zip|rar|7z|dmg|msi|pkg|ps1)\b|
        install\b)|\bcurl [^\uE000]{0,100}\| ?(sudo )?(ba|z)?sh\b)`,
    ],
  },
  {
    id: 'pasted-command',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Persuades the user to paste a command without reading it',
    why: 'A pasted command runs with all rights of the user.',
    remediation: 'Show the command in plain text and explain what it does.',
    references: [...references, 'https://attack.mitre.org/techniques/T1204/004/'],
    patterns: [
      within(260, /\uE000\uE000/)`\b((open|launch|start) (the |your |a )?(terminal|powershell|command prompt|
        run dialog)|press win(dows)?( key)? ?\+ ?r|(copy( and paste)?|paste) (the |this |following ){1,2}
        (command|code|script|line))\b
        … (https?://(glot\.io|rentry\.(co|org)|pastebin\.com|hastebin\.com|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})|
        \bbase64 (-d|-D|--decode)\b|-enc(odedcommand)? [a-z0-9+/=]{16}|\bfrombase64string\b|\bmshta\b)`,
      within(160, passageStop)`\b((prove|verify|confirm) (that )?you('re| are) (a )?human|complete (the |this )?
        captcha)\b
        … \b(win(dows)?( key)? ?\+ ?r|ctrl ?\+ ?v|paste (it |the (command|code) )?(in(to)?|and (press|hit))|
        run dialog|powershell|terminal)\b`,
    ],
  },
]

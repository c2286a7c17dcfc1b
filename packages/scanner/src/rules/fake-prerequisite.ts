import type { Rule } from '../rule.ts'
import { installWordings } from './pressure-wordings.ts'
import { passageStop } from './words.ts'

const category = 'social-engineering'
const references = [
  'https://attack.mitre.org/techniques/T1204/',
  'https://attack.mitre.org/techniques/T1036/',
  'https://cwe.mitre.org/data/definitions/494.html',
]

/** Programs that a user is talked into installing because the skill is said to need them. */
export const fakePrerequisite: readonly Rule[] = [
  {
    id: 'password-archive',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Has a password-protected archive unpacked',
    why: 'A password on an archive whose password is given beside it keeps scanners out, and nobody else.',
    remediation: 'Publish the program unencrypted, with its digest, or name its package.',
    references: [...references, 'https://attack.mitre.org/techniques/T1027/013/'],
    patterns: [
      {
        anchors: ['password', 'passcode', 'pass:', 'pw:', 'pass is', 'passwort', '密码', 'пароль', 'contraseña'],
        match: {
          first:
            /\b(?:(?:download|extract|unzip|unpack|unarchive|decompress|get|grab|open) [^\uE000]{0,120}?(?:\.(?:zip|rar|7z|exe|dmg|iso|msi)\b|archive|releases\/download)|(?:extract|unzip|unpack|decompress) (?:it|the (?:file|files|contents?|folder))|\.(?:zip|rar|7z)\b)/,
          last: /(?:(?:pass(?:word|code)?|pw|passwort|密码|пароль|contraseña)(?: is| to (?:open|extract|unzip) \w{1,8}(?: is)?)?\s?[:=：(]\s?["']?[\w!@#$%-]{3,24}|(?:using|with|use|enter) (?:the )?pass(?:word|code|phrase)\s?:? ?["']?(?!from|you|in\b|manager|protect|that|your|of\b|set|if\b|for|and|or\b|as\b|is\b|was\b)[\w!@#$%-]{3,24}|\bpass(?:word|code)? is ["']?(?!required|not|needed|set|optional|stored|missing|incorrect|wrong|correct|empty|the\b|a\b|your)[\w!@#$%-]{3,24}|\b(?:unzip|7z x?|unrar x?|7za x?) ?-?p ?["']?[\w!@#$%-]{3,24})/,
          stop: passageStop,
          withinMax: 140,
        },
      },
      {
        anchors: ['unzip -p', '7z x -p', '7za x -p', 'unrar x -p', '7z e -p'],
        match:
          /\b(?:unzip (?:-\w{1,3} ){0,2}-P ["']?\w{3,24}|(?:7za?|unrar) [xe] (?:-\w{1,3} )?-p["']?\w{3,24})["']? [^\n\uE000]{0,60}(?:\.zip|\.rar|\.7z|https?:)/,
      },
    ],
  },
  {
    id: 'unofficial-installer',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Demands a program from an unofficial place before use',
    why: 'The demand to install something first is how skills bring malware that no registry has seen.',
    remediation: 'Name a package of a package manager, or the vendor’s own page.',
    references,
    patterns: [
      ...installWordings,
      {
        anchors: [
          'must be installed',
          'will not work',
          'required',
          'must install',
          'must run',
          'must download',
          'requires the',
          'before using',
          'before use',
          'before first use',
          'prerequisite',
          'important',
          'before proceeding',
          'before continuing',
          'need to install',
          'does not work without',
          'first',
          'mandatory',
        ],
        match: {
          first:
            /\b(?:important:?|required|mandatory|prerequisites?|(?:this|the) skill (?:requires|needs|will not (?:work|function)|does not work|cannot (?:work|run))|(?:must|need to|have to|please) (?:first )?(?:install|download|run)|(?:before|prior to) (?:using|proceeding|continuing|first use|use|starting|you (?:begin|start|use))|before (?:this|the) skill (?:can|will))\b/,
          last: /https?:\/\/(?:(?:[\w.-]{1,40}\.)?(?:glot\.io|rentry\.(?:co|org)|pastebin\.com|paste\.\w{2,6}|hastebin\.com|ghostbin\.\w{2,4}|termbin\.com|transfer\.sh|mediafire\.com|mega\.nz|anonfiles\.com|gofile\.io|dropmefiles\.com|catbox\.moe|file\.io|cdn\.discordapp\.com|bit\.ly|tinyurl\.com|t\.ly|is\.gd|cutt\.ly|rb\.gy)\/|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}[:/](?<!127\.0\.0\.1[:/])|[\w.-]{1,60}\/[\w./%-]{0,100}\.(?:exe|msi|dmg|pkg|scr|bat|cmd|vbs|ps1|hta)\b)/,
          stop: /\uE000\uE000/,
          withinMax: 220,
        },
      },
      {
        anchors: ['openclaw', 'clawd', 'claude', 'agent', 'helper', 'utility', 'driver', 'core', 'required'],
        match: {
          first:
            /\b(?:install|download|get|run) (?:the )?(?:required |mandatory |official |latest |companion |external |necessary ){1,2}(?:\w{1,16} ){0,2}?(?:agent|utility|helper|driver|core|client|runtime|component|binary|executable|tool|daemon|bridge)\b(?: (?:utility|helper|core|driver|first|before)){0,2}(?: \w{1,10}){0,2}/,
          last: /(?:\bhttps?:\/\/(?:[\w-]{1,40}\.){1,4}\w{2,10}\/[\w./%-]{0,100}?(?:\.(?:sh|exe|zip|rar|7z|dmg|msi|pkg|ps1)\b|install\b)|\bcurl [^\uE000]{0,100}\| ?(?:sudo )?(?:ba|z)?sh\b)/,
          stop: /\uE000\uE000/,
          withinMax: 120,
        },
      },
    ],
  },
  {
    id: 'pasted-command',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Talks the user into pasting a command unseen',
    why: 'A pasted command runs with all that its user may do, and nobody has read it.',
    remediation: 'Show the command in the clear and say what it does.',
    references: [...references, 'https://attack.mitre.org/techniques/T1204/004/'],
    patterns: [
      {
        anchors: [
          'copy the',
          'copy this',
          'paste the',
          'paste this',
          'copy and paste',
          'copy following',
          'terminal',
          'powershell',
          'run dialog',
          'win+r',
          'windows + r',
          'command prompt',
        ],
        match: {
          first:
            /\b(?:(?:open|launch|start) (?:the |your |a )?(?:terminal|powershell|command prompt|run dialog)|press (?:win(?:dows)?(?: key)? ?\+ ?r)|(?:copy(?: and paste)?|paste) (?:the |this |following ){1,2}(?:command|code|script|line))\b/,
          last: /(?:https?:\/\/(?:glot\.io|rentry\.(?:co|org)|pastebin\.com|hastebin\.com|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})|\bbase64 (?:-d|-D|--decode)\b|-enc(?:odedcommand)? [a-z0-9+/=]{16}|\bfrombase64string\b|\bmshta\b)/,
          stop: /\uE000\uE000/,
          withinMax: 260,
        },
      },
      {
        anchors: ['captcha', 'prove you are human', 'verify you are human', 'verify that you are human'],
        match: {
          first:
            /\b(?:(?:prove|verify|confirm) (?:that )?you(?:'re| are) (?:a )?human|complete (?:the |this )?captcha)\b/,
          last: /\b(?:win(?:dows)?(?: key)? ?\+ ?r|ctrl ?\+ ?v|paste (?:it |the (?:command|code) )?(?:in(?:to)?|and (?:press|hit))|run dialog|powershell|terminal)\b/,
          stop: passageStop,
          withinMax: 160,
        },
      },
    ],
  },
]

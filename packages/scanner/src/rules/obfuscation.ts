import type { Combination, Fact, Pattern, Rule } from '../rule.ts'
import { lineStop, runPipe, shape } from './shapes.ts'

const category = 'obfuscation'
const references = [
  'https://attack.mitre.org/techniques/T1027/',
  'https://attack.mitre.org/techniques/T1140/',
  'https://cwe.mitre.org/data/definitions/506.html',
]
const remediation = 'Write the program in the open. Nothing that is meant to be read needs a cover.'

const decoder =
  /\bbase(?:64|32)(?:\.exe)?["',\s]{1,4}(?:-\w{0,3}d\b|--decode|-i\b)|\bopenssl\s(?:enc\s)?(?:-?base64|enc|-aes[\w-]{1,12})\b[^\n\uE000|]{0,40}\s-d\b|\bxxd\s-(?:r|p|ps|r -p|p -r|rp)\b|\buudecode\b|\bgpg\s[^\n\uE000|]{0,40}--decrypt\b|\bgunzip\b|\bgzip\s-d|\bzcat\b|\brev\b(?=\s?\||\s?<)|\btr\s["']?(?:a-za-z|n-za-m|a-z|\[a-z)[^\n\uE000|]{0,30}|\bopenssl\srsautl\b|\bpython\d?\s-c\s["'][^\n\uE000|]{0,60}(?:b64decode|fromhex|unhexlify)/
const runner =
  /\b(?:exec|eval|compile|execsync|spawnsync|spawn|new function|function|assert|os\.system|subprocess\.(?:run|call|popen|check_output)|os\.popen|vm\.runin\w{3,12}|child_process\.exec(?:sync)?|instance_eval|class_eval|system|shell_exec|passthru|iex|invoke-expression|loadstring|settimeout|marshal\.loads|pickle\.loads)\s?\(\s?/
const unpacker =
  /\b(?:base64\.(?:\w{0,8}64decode|b32decode|b85decode|a85decode|decodestring|decodebytes|decode64)|b64decode|urlsafe_b64decode|b85decode|atob|base64_decode|gzinflate|gzuncompress|str_rot13|hex2bin|bytes\.fromhex|unhexlify|codecs\.decode|zlib\.decompress|gzip\.decompress|bz2\.decompress|lzma\.decompress|frombase64string|marshal\.loads|unescape|decodeuricomponent|string\.fromcharcode|base64\.decode64|base64\.strict_decode64|strrev)\b|\.unpack1?\s?\(\s?["']m|\bpack\s?\(\s?["']h\*|\bbuffer\.from\s?\([^\n\uE000)]{1,200}["'](?:base64|hex)["']/

/** Each word in two pieces. */
const toPieces = (words: readonly string[]) =>
  words.flatMap((word) => Array.from(word.slice(1), (_, at) => [word.slice(0, at + 1), word.slice(at + 1)] as const))

const commands = ['curl', 'wget', 'bash', 'eval', 'python', 'base64', 'chmod', 'ncat', 'powershell'] as const
const apart = toPieces(commands)

/** A shell reads `cu''rl`, `c\url` and `c"u"rl` as it reads `curl`. */
const quotedApart: Pattern = {
  anchors: apart.flatMap(([a, b]) => [`${a}''${b}`, `${a}""${b}`, `${a}\\${b}`, `${a}"${b[0]}"`, `${a}'${b[0]}'`]),
  match: new RegExp(
    `(?<![\\w"'\\\\])(?:${apart.map(([a, b]) => `${a}(?:(?:''|""|\\\\)${b}|"${b[0]}"${b.slice(1)}|'${b[0]}'${b.slice(1)})`).join('|')})(?![\\w"'])`,
  ),
}

const calls = toPieces([...commands, 'exec', 'system', 'import', 'subprocess', 'child_process', 'b64decode', 'popen'])

/** `'ev' + 'al'` */
const joinedLater: Pattern = {
  anchors: calls.flatMap(([a]) => [`"${a}"`, `'${a}'`]),
  match: new RegExp(`(?:${calls.map(([a, b]) => `"${a}"\\s?[+.]\\s?"${b}|'${a}'\\s?[+.]\\s?'${b}`).join('|')})`),
}

/** Cover for what a text does. */
export const rules: readonly Rule[] = [
  {
    id: 'decoded-and-run',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Decodes a text and runs it',
    why: 'A program that is written so that nobody can read it has something to hide.',
    remediation,
    references,
    patterns: [
      {
        anchors: [
          'base64',
          'base32',
          'openssl',
          'xxd',
          'uudecode',
          'gpg ',
          'gunzip',
          'gzip',
          'zcat',
          'b64decode',
          'fromhex',
          'unhexlify',
          'rev ',
          'tr ',
        ],
        match: { first: decoder, last: runPipe, stop: lineStop, withinMax: 160 },
      },
      {
        anchors: ['base64', 'base32', 'openssl', 'xxd', 'uudecode'],
        match: {
          first: decoder,
          last: /(?:&&|;)\s?(?:chmod\s[^\n\uE000;&]{1,40}(?:&&|;)\s?)?(?:sudo )?(?:(?:(?:ba|z|da)?sh|python\d?|source)\s(?=[/~.$])|\.\/\w|\/tmp\/)/,
          stop: lineStop,
          withinMax: 80,
        },
      },
      {
        anchors: ['printf', 'echo -', 'echo $'],
        match: shape`\b(?:printf|echo)\s(?:-\w{1,3}\s)?\$?["'](?:\\{1,2}(?:x[\da-f]{2}|0?[0-7]{3})){4,60}[^\n\uE000|]{0,60}${runPipe}`,
      },
      {
        anchors: ['base64', 'xxd', 'openssl', 'gunzip', 'b64decode'],
        match: {
          first: /\b(?:(?:eval|source|(?:ba|z|da|k)?sh\s-\w{0,3}c|python\d?\s-c|exec)\b|(?:ba|z)?sh\s?<<<)/,
          last: shape`(?:<\(|\$\()[^\n\uE000]{0,100}${decoder}`,
          stop: lineStop,
          withinMax: 20,
        },
      },
      {
        anchors: [
          'decode',
          'atob',
          'inflate',
          'uncompress',
          'rot13',
          'hex2bin',
          'fromhex',
          'unhexlify',
          'decompress',
          'buffer.from',
          'frombase64',
          'loads',
          'unescape',
          'fromcharcode',
          'strrev',
        ],
        match: shape`${runner}[^\n\uE000;]{0,60}${unpacker}`,
      },
      {
        anchors: ['$(echo', '$(printf', '$( echo'],
        match:
          /(?:^|[\n;&|(\uE000]\s?)\$\(\s?(?:echo|printf)\s[^\n\uE000|]{2,100}\|\s?(?:base(?:64|32)\s(?:-d|--decode)|xxd\s-r|rev\b)/,
      },
      {
        anchors: ['pack(', 'decode_base64', '.unpack'],
        match:
          /\b(?:eval|exec|system)\s?\(?\s?(?:pack\s?\(\s?["'][hu]|decode_base64\b|["'][^"'\n]{4,200}["']\.unpack1?\b)/,
      },
      {
        anchors: ['frombase64string', '-enc'],
        match:
          /\bpowershell(?:\.exe)?\s[^\n\uE000]{0,80}-e(?:nc(?:odedcommand)?|c)?\s["']?(?=[a-z0-9+/]{0,30}[\d+/])[a-z0-9+/=]{30,60}(?!\.\.)|\b(?:iex|invoke-expression)\b[^\n\uE000]{0,120}frombase64string|frombase64string\s?\([^\n\uE000]{0,120}\)\s?\|\s?(?:iex|invoke-expression)\b/,
      },
      {
        anchors: ['-encodedcommand', ' -enc ', ' -ec ', ' -e '],
        match:
          /\bpowershell(?:\.exe)?\s[^\n\uE000]{0,80}-e(?:nc(?:odedcommand)?|c)?\s["']?(?=[a-z0-9+/]{0,30}[\d+/])[a-z0-9+/=]{30,60}(?!\.\.)/,
      },
    ],
  },
  {
    id: 'escaped-text',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Spells a text out in codes of characters',
    why: 'Nobody can read what it says before it runs.',
    remediation,
    references,
    patterns: [
      { anchors: ['\\x6', '\\x7', '\\x2'], match: /(?:\\{1,2}x[2-7][\da-f]){16,40}/ },
      { anchors: ['\\u00'], match: /(?:\\{1,2}u00[2-7][\da-f]){12,40}/ },
      { anchors: ['\\14', '\\15', '\\16', '\\17'], match: /(?:\\{1,2}1[0-7]{2}|\\{1,2}0?[4-7]\d){14,40}/ },
      { anchors: ['chr('], match: /(?:\bchr\(\s?(?:0x)?\w{1,4}\s?\)\s?[+.,&]{1,2}\s?){5,20}/ },
      {
        anchors: ['fromcharcode', 'fromcodepoint'],
        match: /\bfromc(?:harcode|odepoint)\s?\(\s?(?:(?:0x[\da-f]{2}|\d{2,3})\s?,\s?){6,40}/,
      },
      {
        anchors: ['chr(', 'map(chr', '[char]'],
        match:
          /\bjoin\s?\(\s?(?:chr\s?\(|map\s?\(\s?chr\b)[^\n\uE000]{0,60}(?:\[\s?(?:\d{2,3}\s?,\s?){3,30}|\bfor\b)|(?:\[char\]\s?(?:0x)?\w{2,3}\s?\+\s?){4,20}/,
      },
    ],
  },
  {
    id: 'scrambled-program',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Holds a program that was made unreadable',
    why: 'Names like these come from a tool whose purpose is that nobody can follow the program.',
    remediation,
    references,
    patterns: [
      {
        anchors: ['_0x', ' 0x'],
        match: /\b(?:var|let|const|function)\s_?0x[\da-f]{4,6}\b[^\n\uE000]{0,200}_?0x[\da-f]{4,6}\s?[([]/,
      },
      { anchors: ['eval(function(p,a,c,k,e'], match: /\beval\(function\(p,a,c,k,e,[rd]\)/ },
      { anchors: ['[][(', '(![]+['], match: /(?:!?\[\]\[?\(?!?\[\]\+\[?\]?\)?\[?[+![\]]{3,20}){2,8}/ },
      { anchors: ['exec(', 'lambda'], match: /\(lambda : ?(?:import|__import__)?\([^\n\uE000]{0,60}\)\.decompress/ },
    ],
  },
  {
    id: 'split-words',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Takes the words of a command apart so that they are not found',
    why: 'Nobody writes a command this way but to get past a filter.',
    remediation,
    references,
    patterns: [
      {
        anchors: ['$ifs', '${ifs', '${path', '${home', '${pwd', '${shell'],
        match:
          /\b(?:cat|curl|wget|bash|sh|nc|rm|chmod|base64|python\d?|echo)\$\{?ifs\b|\$\{?ifs\}?\$\{?\d|\$\{(?:path|home|pwd|shell|ifs):\d{1,2}:1\}\S{0,40}\$\{(?:path|home|pwd|shell|ifs):\d/,
      },
      quotedApart,
      joinedLater,
      {
        anchors: ['=cu', '=wg', '=ba', '="cu', "='cu", '="wg', "='wg", '="ba', "='ba"],
        match:
          /\b\w{1,8}=["']?(?:cu|cur|wg|ba)["']?\s?(?:;|&&|\n)\s?\w{1,8}=["']?(?:rl|l|url|et|get|sh|ash|h)["']?\s?(?:;|&&|\n)[^\n\uE000]{0,60}(?:\n[^\n\uE000]{0,60})?\$\{?\w{1,8}\}?\$\{?\w{1,8}\}?/,
      },
      {
        anchors: ['getattr', 'globals()', 'builtins', 'window[', 'globalthis[', 'global['],
        match:
          /\bgetattr\s?\(\s?(?:__)?(?:builtins|import\([^\n)]{1,20}\)|os|subprocess)(?:__)?\s?,\s?["'][^\n\uE000)]{0,30}["']\s?\+|\bglobals\s?\(\)\s?\[\s?["'][^\n\uE000\]]{0,20}["']\s?\+|\b(?:window|globalthis|global|self)\s?\[\s?["'][^\n\uE000\]]{0,12}["']\s?\+\s?["']|\bgetattr\s?\(\s?(?:__)?(?:builtins|import\([^\n)]{1,20}\))(?:__)?\s?,\s?["'](?:eval|exec|system)["']/,
      },
      { anchors: ["$'\\x"], match: /\$'(?:\\x[\da-f]{2}){3,30}'/ },
    ],
  },
  {
    id: 'covered-traces',
    category: 'concealment',
    severity: 'high',
    signal: 'suspicious',
    title: 'Removes the traces of what was run',
    why: 'Who works for the user has no reason to hide from the user’s own records.',
    remediation: 'Leave histories and logs alone.',
    references: ['https://attack.mitre.org/techniques/T1070/'],
    patterns: [
      {
        anchors: ['history', 'histfile', 'histsize'],
        match:
          /\bhistory\s-c\b|\bunset\shistfile\b|\bhistfile=\/dev\/null|\bhistsize=0\b|\bset \+o history\b|\b(?:rm|shred|truncate|unlink|delete)s?\s[^\n\uE000;]{0,40}(?:~|\$home)?\/?\.(?:bash|zsh|sh)_history\b|>\s?(?:~|\$home)\/\.(?:bash|zsh)_history\b|\b(?:clear|wipe|erase)s?\s(?:the |your |all )?(?:shell|bash|zsh|command) history\b/,
      },
      {
        anchors: ['/var/log', 'wevtutil', 'clear-eventlog', 'clear-history'],
        match:
          /\b(?:rm|shred|truncate)\s[^\n\uE000;]{0,30}\/var\/log\/(?:auth|secure|syslog|wtmp|btmp|lastlog|audit)|>\s?\/var\/log\/(?:auth\.log|secure|wtmp|syslog)|\bwevtutil(?:\.exe)?\scl\b|\bclear-eventlog\b|\bclear-history\b/,
      },
    ],
  },
]

export const facts: readonly Fact[] = [
  {
    id: 'decodes-literal',
    patterns: [
      {
        anchors: ['chr(', 'bytes(', 'bytearray(', 'fromcharcode', 'charcodeat', '-bxor'],
        match:
          /\b(?:chr|bytes|bytearray|fromcharcode)\s?\([^\n\uE000]{0,60}\s?\^\s?(?:0x|\w)|\bcharcodeat\s?\([^\n\uE000)]{0,20}\)\s?\^|-bxor\b/,
      },
      {
        anchors: ['fromhex', 'unhexlify', 'b64decode', 'atob(', 'decompress', '.unpack', 'frombase64', 'fromcharcode'],
        match:
          /(?:fromhex|unhexlify|b64decode|atob|decompress|frombase64string)\s?\(\s?[^\n\uE000]{1,80}|\[\s?(?:\d{2,3}\s?,\s?){6,60}\d{2,3}\s?\]\s?\.map\s?\([^\n\uE000]{0,40}fromc(?:harcode|odepoint)|["'][a-z0-9+/=]{8,200}["']\.unpack1?\s?\(?["']m/,
      },
      {
        anchors: ['decode', 'atob', 'buffer.from', 'frombase64', 'fromhex'],
        match:
          /\b(?:b64decode|urlsafe_b64decode|b85decode|atob|base64_decode|buffer\.from|frombase64string|decode64|fromhex)\s?\(\s?[bf]?["'](?=[a-z0-9+/=_-]{0,30}[\d+/=])[a-z0-9+/=_-]{40,60}/,
      },
    ],
  },
  {
    id: 'runs-code',
    patterns: [
      {
        anchors: [
          'exec',
          'eval',
          'os.system',
          'popen',
          'subprocess',
          'spawn',
          'function(',
          'compile(',
          'invoke-expression',
          'iex ',
        ],
        match:
          /(?<![.\w])(?:exec|eval)\s?\(\s?(?!\))|\bos\.(?:system|popen)\s?\(\s?(?!\))|\bsubprocess\.\w{3,12}\s?\(|\bexecsync\s?\(|\bspawn(?:sync)?\s?\(|\bnew function\s?\(|\b(?:iex|invoke-expression)\s\$/,
      },
    ],
  },
]

export const combinations: readonly Combination[] = [
  {
    id: 'decoded-near-run',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Decodes a long text and runs something a few lines on',
    why: 'What is decoded can be what is run, and nobody can read it.',
    remediation,
    references,
    all: [['decodes-literal'], ['runs-code']],
    within: 15,
  },
]

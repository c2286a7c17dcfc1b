import { builtAndRun, hiddenObeyed } from './evasion-orders.ts'
import { decodedOrders, ordersInDisguise } from './disguise-sentences.ts'
import type { Combination, Fact, Pattern, Rule } from '../match/rule.ts'
import { lineStop, runPipe } from './shapes.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'obfuscation'
const references = [
  'https://attack.mitre.org/techniques/T1027/',
  'https://attack.mitre.org/techniques/T1140/',
  'https://cwe.mitre.org/data/definitions/506.html',
]
const remediation = 'Write the program in plain text. A legitimate program does not need obfuscation.'

const decoder = regex`\bbase(64|32)(\.exe)?["',\s]{1,4}(-\w{0,3}d\b|--decode|-i\b)|
  \bopenssl\s(enc\s)?(-?base64|enc|-aes[\w-]{1,12})\b[^\n\uE000|]{0,40}\s-d\b|\bxxd\s-(r|p|ps|r -p|p -r|rp)\b|
  \buudecode\b|\bgpg\s[^\n\uE000|]{0,40}--decrypt\b|\bgunzip\b|\bgzip\s-d|\bzcat\b|\brev\b(?=\s?\||\s?<)|
  \btr\s["']?(a-za-z|n-za-m|a-z|\[a-z)[^\n\uE000|]{0,30}|\bopenssl\srsautl\b|\bpython\d?\s-c\s["'][^\n\uE000|]{0,60}
  (b64decode|fromhex|unhexlify)`
const runner = regex`\b(exec|eval|compile|execsync|spawnsync|spawn|new function|function|
  assert|os\.system|subprocess\.(run|call|popen|check_output)|os\.popen|vm\.runin\w{3,12}|child_process\.exec(sync)?
  |instance_eval|class_eval|system|shell_exec|passthru|iex|invoke-expression|loadstring|settimeout|marshal\.loads|
  pickle\.loads)\s?\(\s?(?![\w$,\s]{0,60}\)\s?\{)`
const unpacker = regex`\b(base64\.(\w{0,8}64decode|b32decode|b85decode|a85decode|decodestring|
  decodebytes|decode64)|b64decode|urlsafe_b64decode|b85decode|atob|base64_decode|gzinflate|gzuncompress|str_rot13|
  hex2bin|bytes\.fromhex|unhexlify|codecs\.decode|zlib\.decompress|gzip\.decompress|bz2\.decompress|lzma\.decompress
  |frombase64string|marshal\.loads|unescape|decodeuricomponent|string\.fromcharcode|base64\.decode64|
  base64\.strict_decode64|strrev)\b|\.unpack1?\s?\(\s?["']m|\bpack\s?\(\s?["']h\*|\bbuffer\.from\s?\(
  [^\n\uE000)]{1,200}["'](base64|hex)["']`

/** Returns every split of each word into two pieces. */
const toPieces = (words: readonly string[]) =>
  words.flatMap((word) => Array.from(word.slice(1), (_, at) => [word.slice(0, at + 1), word.slice(at + 1)] as const))

const commands = ['curl', 'wget', 'bash', 'eval', 'python', 'base64', 'chmod', 'ncat', 'powershell'] as const
const apart = toPieces(commands)

/** Commands split by quotes, which a shell ignores: `cu''rl`, `c\url` and `c"u"rl` run `curl`. */
const quotedApart: Pattern = {
  anchors: apart.flatMap(([a, b]) => [`${a}''${b}`, `${a}""${b}`, `${a}\\${b}`, `${a}"${b[0]}"`, `${a}'${b[0]}'`]),
  match: regex`(?<![\w"'\\])${apart.map(([a, b]) => {
    return `${a}(?:(?:''|""|\\\\)${b}|"${b[0]}"${b.slice(1)}|'${b[0]}'${b.slice(1)})`
  })}(?![\w"'])`,
}

const calls = toPieces([...commands, 'exec', 'system', 'import', 'subprocess', 'child_process', 'b64decode', 'popen'])

/** Names that are concatenated from two pieces: `'ev' + 'al'`. */
const joinedLater: Pattern = {
  anchors: calls.flatMap(([a]) => [`"${a}"`, `'${a}'`]),
  match: regex`${calls.map(([a, b]) => `"${a}"\\s?[+.]\\s?"${b}|'${a}'\\s?[+.]\\s?'${b}`)}`,
}

/** Rules about hiding what a program does. */
export const rules: readonly Rule[] = [
  {
    id: 'decoded-and-run',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Decodes a text and runs it',
    why: 'An encoded program hides from reviewers what it does.',
    remediation,
    references,
    patterns: [
      regex`\b(exec|eval)\s?\({0-60 in line}\.decrypt\s?\(|\[\s?["']constructor["']\s?\]\s?\(\s?["'](return|this)\b`,
      containing('gpg|ccrypt|mcrypt')`\b(gpg2?|ccrypt|mcrypt)\b{0-80 in line}\s(-d|--decrypt){0-60 in line}${runPipe}`,
      within(
        160,
        lineStop,
        `base64|base32|openssl|xxd|uudecode|gpg |gunzip|gzip|zcat|b64decode|fromhex|unhexlify|rev |tr `,
      )`
        ${decoder}
        … ${runPipe}`,
      within(80, lineStop, 'base64|base32|openssl|xxd|uudecode')`${decoder}
        … (&&|;)\s?(chmod\s[^\n\uE000;&]{1,40}(&&|;)\s?)?(sudo )?(((ba|z|da)?sh|python\d?|source)\s(?=[/~.$])|\./\w|
        /tmp/)`,
      regex`\b(printf|echo)\s(-\w{1,3}\s)?\$?["'](\\{1,2}(x[\da-f]{2}|0?[0-7]{3})){4,60}[^\n\uE000|]{0,60}${runPipe}`,
      within(20, lineStop, 'base64|xxd|openssl|gunzip|b64decode')`\b((eval|source|(ba|z|da|k)?sh\s-\w{0,3}c|
        python\d?\s-c|exec)\b|(ba|z)?sh\s?<<<)
        … (<\(|\$\(){0-100 in line}${decoder}`,
      regex`${runner}[^\n\uE000;]{0,60}${unpacker}`,
      regex`(^|[\n;&|(\uE000]\s?)\$\(\s?(echo|printf)\s[^\n\uE000|]{2,100}\|\s?(base(64|32)\s(-d|--decode)|xxd\s-r|
        rev\b)`,
      regex`\b(eval|exec|system)\s?\(?\s?(pack\s?\(\s?["'][hu]|decode_base64\b|["'][^"'\n]{4,200}["']\.unpack1?\b)`,
      regex`\bpowershell(\.exe)?\s{0-80 in line}-e(nc(odedcommand)?|c)?\s["']?(?=[a-z0-9+/]{0,30}[\d+/])
        [a-z0-9+/=]{30,60}(?!\.\.)|\b(iex|invoke-expression)\b{0-120 in line}frombase64string|frombase64string\s?\(
        {0-120 in line}\)\s?\|\s?(iex|invoke-expression)\b`,
      regex`\bpowershell(\.exe)?\s{0-80 in line}-e(nc(odedcommand)?|c)?\s["']?(?=[a-z0-9+/]{0,30}[\d+/])
        [a-z0-9+/=]{30,60}(?!\.\.)`,
    ],
  },
  {
    id: 'escaped-text',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Writes a text as character codes',
    why: 'Reviewers cannot read the text before it runs.',
    remediation,
    references,
    patterns: [
      containing(['\\x6', '\\x7', '\\x2'])`(\\{1,2}x[2-7][\da-f]){16,40}`,
      containing(['\\u00'])`(\\{1,2}u00[2-7][\da-f]){12,40}`,
      containing(['\\14', '\\15', '\\16', '\\17'])`(\\{1,2}1[0-7]{2}|\\{1,2}0?[4-7]\d){14,40}`,
      regex`(\bchr\(\s?(0x[2-7][\da-f]|[3-9]\d|1[0-2]\d)\s?\)\s?[+.,&]{1,2}\s?){5,20}`,
      regex`\bfromc(harcode|odepoint)\s?\(\s?((0x[\da-f]{2}|\d{2,3})\s?,\s?){6,40}`,
      regex`\bjoin\s?\(\s?(chr\s?\(|map\s?\(\s?chr\b){0-60 in line}\[\s?(\d{2,3}\s?,\s?){3,30}|
        (\[char\]\s?(0x)?\w{2,3}\s?\+\s?){4,20}|\[char\[\]\]\s?\(\s?(\d{2,3}\s?,\s?){2,60}\d|
        \bdecodeuri(component)?\s?\(\s?["'](%[2-7][\da-f]){5,60}`,
    ],
  },
  {
    id: 'scrambled-program',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Contains an obfuscated program',
    why: 'The names come from an obfuscator, whose purpose is to make a program unreadable.',
    remediation,
    references,
    patterns: [
      containing('_0x| 0x')`\b(var|let|const|function)\s_?0x[\da-f]{4,6}\b{0-200 in line}_?0x[\da-f]{4,6}\s?[([]`,
      /\beval\(function\(p,a,c,k,e,[rd]\)/,
      containing('[][(|(![]+[')`(!?\[\]\[?\(?!?\[\]\+\[?\]?\)?\[?[+![\]]{3,20}){2,8}`,
      regex`\(lambda : ?(import|__import__)?\({0-60 in line}\)\.decompress`,
    ],
  },
  {
    id: 'split-words',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Splits the words of a command to hide it from filters',
    why: 'Splitting a command has no purpose except to evade filters.',
    remediation,
    references,
    patterns: [
      regex`\b(cat|curl|wget|bash|sh|nc|rm|chmod|base64|python\d?|echo)\$\{?ifs\b|\$\{?ifs\}?\$\{?\d|
        \$\{(path|home|pwd|shell|ifs):\d{1,2}:1\}\S{0,40}\$\{(path|home|pwd|shell|ifs):\d`,
      quotedApart,
      joinedLater,
      containing(`=cu|=wg|=ba|="cu|='cu|="wg|='wg|="ba|='ba`)`\b\w{1,8}=["']?(cu|cur|wg|ba)["']?\s?(;|&&|\n)\s?
        \w{1,8}=["']?(rl|l|url|et|get|sh|ash|h)["']?\s?(;|&&|\n){0-60 in line}(\n{0-60 in line})?\$\{?\w{1,8}\}?\$
        \{?\w{1,8}\}?`,
      regex`\bgetattr\s?\(\s?(__)?(builtins|import\([^\n)]{1,20}\)|os|subprocess)(__)?\s?,\s?["'][^\n\uE000)]{0,30}
        ["']\s?\+|\bglobals\s?\(\)\s?\[\s?["'][^\n\uE000\]]{0,20}["']\s?\+\s?["']|
        \b(window|globalthis|global|self)\s?\[\s?["'][^\n\uE000\]]{0,12}["']\s?\+\s?["']|
        \bgetattr\s?\(\s?(__)?(builtins|import\([^\n)]{1,20}\))(__)?\s?,\s?["'](eval|exec|system)["']`,
      containing(["$'\\x"])`\$'(\\x[\da-f]{2}){3,30}'`,
    ],
  },
  {
    id: 'decoded-orders',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Has a disguised text decoded and obeyed',
    why: 'Instructions that must be decoded first are hidden from the user and from reviewers.',
    remediation: 'Write the instructions in plain text.',
    references,
    patterns: [...hiddenObeyed, ...builtAndRun, ...decodedOrders, ...ordersInDisguise],
  },
  {
    id: 'covered-traces',
    category: 'concealment',
    severity: 'high',
    signal: 'suspicious',
    title: 'Removes the traces of executed commands',
    why: 'A skill that works for the user has no reason to hide from the user’s own records.',
    remediation: 'Do not change histories or logs.',
    references: ['https://attack.mitre.org/techniques/T1070/'],
    patterns: [
      regex`\bcloudtrail\b{0-30 in sentence}\b(is|gets|must be) (paused|stopped|disabled|switched off|turned off|suspended)
        \s(during|while|before|first|so|until)\b`,
      regex`\bhistory\s-c\b|\bunset\shistfile\b|\bhistfile=/dev/null|\bhistsize=0\b|\bset \+o history\b|
        \b(rm|shred|truncate|unlink|delete)s?\s[^\n\uE000;]{0,40}(~|\$home)?/?\.(bash|zsh|sh)_history\b|
        >\s?(~|\$home)/\.(bash|zsh)_history\b|\b(clear|wipe|erase)s?\s(the |your |all )?(shell|bash|zsh|
        command) history\b`,
      regex`\b(rm|shred|truncate)\s[^\n\uE000;]{0,30}/var/log/(auth|secure|syslog|wtmp|btmp|lastlog|audit)|
        >\s?/var/log/(auth\.log|secure|wtmp|syslog)|\bwevtutil(\.exe)?\scl\b|\bclear-eventlog\b|\bclear-history\b`,
    ],
  },
]

export const facts: readonly Fact[] = [
  {
    id: 'decodes-literal',
    patterns: [
      containing('chr(|bytes(|bytearray(|fromcharcode|charcodeat|-bxor')`\b(chr|bytes|bytearray|fromcharcode)\s?\(
        {0-60 in line}\s?\^\s?(0x|\w)|\bcharcodeat\s?\([^\n\uE000)]{0,20}\)\s?\^|-bxor\b`,
      regex`(fromhex|unhexlify|b64decode|atob|decompress|frombase64string)\s?\(\s?{1-80 in line}|
        \[\s?(\d{2,3}\s?,\s?){6,60}\d{2,3}\s?\]\s?\.map\s?\({0-40 in line}fromc(harcode|odepoint)|
        ["'][a-z0-9+/=]{8,200}["']\.unpack1?\s?\(?["']m`,
      regex`\b(b64decode|urlsafe_b64decode|b85decode|atob|base64_decode|buffer\.from|frombase64string|decode64|
        fromhex)\s?\(\s?[bf]?["'](?=[a-z0-9+/=_-]{0,30}[\d+/=])[a-z0-9+/=_-]{40,60}`,
    ],
  },
  {
    id: 'runs-code',
    patterns: [
      containing(`exec|eval|os.system|popen|subprocess|spawn|function(|compile(|invoke-expression|iex `)`
        (?<![.\w])(exec|eval)\s?\(\s?(?!\))|\bos\.(system|popen)\s?\(\s?(?!\))|\bsubprocess\.\w{3,12}\s?\(|
        \bexecsync\s?\(|\bspawn(sync)?\s?\(|\bnew function\s?\(|\b(iex|invoke-expression)\s\$`,
    ],
  },
]

export const combinations: readonly Combination[] = [
  {
    id: 'decoded-near-run',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Decodes a long text and runs code a few lines later',
    why: 'The code that is run may be the decoded text, which reviewers cannot read.',
    remediation,
    references,
    all: [['decodes-literal'], ['runs-code']],
    within: 15,
  },
]

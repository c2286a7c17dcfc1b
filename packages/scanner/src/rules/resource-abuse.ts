import type { Rule } from '../match/rule.ts'
import { blockStop, lineStop } from './shapes.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'resource-abuse'
const references = ['https://attack.mitre.org/techniques/T1496/', 'https://attack.mitre.org/techniques/T1499/']

/** Rules about using the user’s machine for others, or exhausting it. */
export const rules: readonly Rule[] = [
  {
    id: 'miner',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Mines cryptocurrency',
    why: 'The user pays for the electricity, and the author is paid.',
    remediation: 'Remove it.',
    references,
    patterns: [
      regex`\bstratum2?\+(tcp|ssl|tls)s?://[\w[<{$.-]`,
      regex`(\./|/tmp/|\b(run|start|nohup|sudo|exec|install|download|curl|wget|git clone)\s{0-60 in line})
        (xmrig|minerd|cpuminer|ethminer|nbminer|xmr-stak|phoenixminer|ccminer|lolminer|srbminer)\b|
        \b(xmrig|minerd|cpuminer|ethminer|nbminer|ccminer|lolminer|srbminer[\w-]{0,6}|t-rex)\s(-o|-a|--url|--algo|
        --pool|-c|--config|--donate-level|--user|-u|-p)[\s=]`,
      regex`\bcoin-?hive\.(anonymous|user|min\.js|com/lib)|\bcryptoloot\.|\b[\w.-]{0,30}(supportxmr|minexmr|nanopool|
        moneroocean|hashvault|2miners|nicehash|minergate|herominers)\.(com|org|stream|pro)?:\d{3,5}\b`,
    ],
  },
  {
    id: 'mining-code',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Contains the pool, wallet or workers of a cryptocurrency miner',
    why: 'The user pays for the electricity, and the author is paid.',
    remediation: 'Remove it, or state what the skill does with the machine.',
    references,
    patterns: [
      regex`\.anonymous\(\s?["'][\w-]{4,60}["']\s?,\s?\{[^}\uE000]{0,60}\b(throttle|threads)\b`,
      within(300, /\uE000\uE000/)`\b(pool_?(host|url|port|addr(ess)?)|mining_?pool|miner_?(url|path|script|binary|
        thread|config))\b
        … \b(wallet(_?address)?|worker_?(id|name)|nonce|hash_?rate|subprocess|threads?)\b`,
      regex`\b(coin(hive|imp|pow)|crypto-?loot|webminerpool|jsecoin|deepminer)\b{0-30 in line}(\.(anonymous|user|start)|min\.js)|
        \bforce_exclusive_tab\b`,
    ],
  },
  {
    id: 'fork-bomb',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Starts copies of itself without end',
    why: 'The machine stops responding within seconds.',
    remediation: 'Remove it.',
    references: ['https://attack.mitre.org/techniques/T1499/001/', 'https://cwe.mitre.org/data/definitions/400.html'],
    patterns: [
      containing([':()', ': ()', 'bomb()', 'f()', ':|:', '(){', '() {'])`(^|[\s"'(;])(:|\w{1,8})\s?\(\)\s?\{\s?
        (:|\w{1,8})\s?\|\s?(:|\w{1,8})\s?&\s?\}\s?;\s?(:|\w{1,8})`,
      containing(['%0|%0', 'os.fork', 'fork()'])`%0\s?\|\s?%0|\bwhile (true|1)\s?:[\s\n]{1,4}os\.fork\s?\(|
        \bfork while fork\b`,
      containing('$0 &|$0&|"$0" &')`(\./)?"?\$0"?\s?&\s?"?\$0"?\s?&`,
    ],
  },
  {
    id: 'exhausts-machine',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Uses memory, disk or time without a limit',
    why: 'The machine stops responding, and paid requests continue.',
    remediation: 'Set a limit, and stop after it.',
    references: ['https://cwe.mitre.org/data/definitions/400.html', 'https://cwe.mitre.org/data/definitions/770.html'],
    patterns: [
      regex`\bfallocate -l ?\d{3,6}g\b|\bseq 1 \d{7,12}\b|\bdd if=/dev/zero of=[~/](?!{0-60 in line}\bcount=){0-60 in line}\bbs=\d{1,6}m`,
      within(
        200,
        /\uE000\uE000/,
      )`\bwhile true\s?:[^\uE000]{0,80}\brequests\.(get|post)\( … \brange\(\d{4,9}\)[^\uE000]{0,100}\bthread\(`,
      within(200, blockStop)`\bwhile\s?\(?\s?(true|1)\s?\)?|\bfor\s?\(\s?;;\s?\)
        … \bspawn\s?\(\s?(process\.execpath|process\.argv|sys\.executable)|\.(append|push|extend)\s?\(\s?
        (["'][^"'\n]{1,4}["']\s\*?\s?\d|bytearray|new (array|buffer)|buffer\.alloc|" ?"\.repeat|["']\w["']\.repeat)|
        \bmultiprocessing\.process\s?\(|\bfallocate\b|\bdd if=/dev/(zero|urandom)`,
      /\byes\s?>\s?\/dev\/null\s?&/,
      regex`\bhping3\s{0-80 in line}--flood|\bslowloris(\.py|\.pl)?\s[\w$-]`,
      within(60, lineStop)`\b(retry|call|invoke|repeat|re-?run|loop)\b[^\n\uE000.]{0,24}\b(tool|itself|this skill|
        request|function|api)\b
        … \b(indefinitely|forever|infinitely|endlessly|without (limit|end|stopping))\b`,
    ],
  },
]

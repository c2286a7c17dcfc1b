import type { Rule } from '../match/rule.ts'
import { knownInstaller } from './known-installers.ts'
import { fetchedAndRun } from './remote-flows.ts'
import { blockStop, fetcher, localHost, runPipe, untrustedHost } from './shapes.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'remote-code'
const references = [
  'https://cwe.mitre.org/data/definitions/494.html',
  'https://attack.mitre.org/techniques/T1105/',
  'https://attack.mitre.org/techniques/T1059/',
]
const remediation =
  'Download a pinned version to a file, check its digest, and review it before running it; or use a package manager.'

const pipeAnchors = ['curl', 'wget', 'aria2c', 'fetch', 'iwr', 'irm', 'invoke-', 'lwp-request', 'bitstransfer']
/** The text between a download command and the pipe. Whether the rule applies depends on the first address in it. */
const upToPipe = regex`{0-180 in line}`
const beforeAddress = /[^\n\uE000:|]{0,60}/
const plain = regex`http://(?!${localHost}|\w{1,12}[.\s]{0,3}["'\s])`
/** The address of a known installer, without a second address. */
const known = regex`${beforeAddress}://${knownInstaller}(?![^\n\uE000|]{0,160}://)`
/** Part of a URL or variable: a text with `curl | sh` without either only discusses the practice. */
const someAddress = regex`[^\n\uE000|]{0,160}(\w\.[a-z]{2}|://\w|[\w\]}]/\w|\$|["'\s]\{\w)`
const substituted = regex`\b((ba|z|da|k)?sh|eval|source|python[\d.]{0,4}|node|perl|ruby)\b
  [^\n\uE000|;]{0,40}(<\(|\$\()\s?(curl|wget)\b|(^|[\s;&"'])\.\s<\(\s?(curl|wget)\b`
const evaluated = regex`\b(iex|invoke-expression)\b{0-60 in line}\b(iwr|irm|curl|wget|
  invoke-webrequest|invoke-restmethod|downloadstring)\b|\bdownloadstring\b{0-160 in line}\|\s?
  (iex|invoke-expression)\b`

/** Rules about running programs from the network without a review. */
export const rules: readonly Rule[] = [
  {
    id: 'piped-remote-code',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Runs code from the network without a review',
    why: 'The owner of the address decides at each run what the machine does.',
    remediation,
    references,
    patterns: [
      containing(pipeAnchors)`${fetcher}(?=${someAddress})(?!${known})${upToPipe}${runPipe}`,
      containing('curl|wget')`${substituted}(?!${known})`,
      containing('iex|invoke-expression')`${evaluated}(?!${known})`,
    ],
  },
  {
    id: 'piped-known-installer',
    category,
    severity: 'info',
    signal: 'power',
    title: 'Pipes an installer of a known vendor into a shell',
    why: 'The installed program has all rights of the user.',
    remediation: 'Pin the version, or install with a package manager if it has the program.',
    references,
    patterns: [
      containing(pipeAnchors)`${fetcher}${known}${upToPipe}${runPipe}`,
      containing('curl|wget')`${substituted}${known}`,
    ],
  },
  {
    id: 'piped-from-nowhere',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Runs code from a source without a known owner',
    why: 'An IP address, tunnel, paste page or plain HTTP hides the author and allows others to change the program.',
    remediation: 'Remove it. Publish the program over HTTPS with a digest, from a source with a known owner.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/829.html'],
    patterns: [
      containing(pipeAnchors)`${fetcher}${beforeAddress}(${plain}|(\w{2,6}://)?(?<![\w.-])${untrustedHost})
        ${upToPipe}${runPipe}`,
      containing('curl|wget')`${substituted}${beforeAddress}(${plain}|(\w{2,6}://)?(?<![\w.-])${untrustedHost})`,
      containing('iex|invoke-expression')`${evaluated}[^\n\uE000:|]{0,60}(${plain}|(\w{2,6}://)?(?<![\w.-])
        ${untrustedHost})`,
      containing('nc |ncat|netcat|telnet')`\b(nc|ncat|netcat|telnet)\s(-\w{1,4}\s){0,3}(?!${localHost})
        ([\w-]{1,30}\.){1,5}[\w-]{1,20}\s\d{2,5}\s?${runPipe}`,
    ],
  },
  {
    id: 'downloaded-and-run',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Downloads a program and runs it at once',
    why: 'The download may change at any time, and no digest is checked.',
    remediation,
    references,
    patterns: [
      ...fetchedAndRun,
      within(200, /\uE000/, 'curl|wget|aria2c|iwr|invoke-webrequest|urlretrieve|downloadfile|bitsadmin')`
        \b(curl|wget|aria2c|iwr|invoke-webrequest|urlretrieve|downloadfile|bitsadmin)\b(?!${known}){0-100 in line}
        (https?://|\$\{?\w)
        … &&\s?(sudo\s)?(chmod\s(a|u|o|g){0,3}\+?(x|[0-7]{3,4})\s[^\n\uE000;&]{1,60}(&&|;)\s?(sudo\s|nohup\s)?
        (\./|/tmp/|~/|\$)|(ba|z)?sh\s[\w./~$-]|\./\w|python[\d.]{0,4}\s[\w./~]{1,60}\.py\b|start-process)|
        ;\s?(\./\w|(ba|z)?sh\s/tmp/|start-process|&\s?["$])|\n\s?(sudo )?((ba|z)?sh|python\d?)\s(/tmp/|/var/tmp/|
        /dev/shm/)|\n\s?(/tmp/|/dev/shm/)\w`,
      within(200, blockStop)`\b(curl|wget|urlretrieve)\b(?!${known}){0-120 in line}(/tmp/|/var/tmp|/dev/shm|tmpdir|
        tempdir|miner|payload|%temp%)
        … \bchmod(sync)?\b{0-50 in line}(\+x|0?o?7[0-7]{2}|0o?755)`,
      regex`\b(downloads?|fetch(es)?) (and|then|&) (then |immediately |silently |automatically )?(runs?|executes?|
        installs?|launch(es)?) [^\n\uE000.]{0,80}?\b(from|at|:) ?["'<(]?
        (https?://(?!(www\.)?(github\.com|nodejs\.org|python\.org))|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d)`,
      regex`\bdownloads? {0-3 words}(scripts?|binar(y|ies)|executables?|programs?|
        payloads?) from [^\n\uE000\s]{1,120} and (then )?(runs?|executes?) (it|them)\b`,
    ],
  },
  {
    id: 'system-program-download',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Uses a system program to download and run code',
    why: 'Attackers use these programs to evade monitoring; installers do not need them.',
    remediation: 'Remove it, and use a regular installer.',
    references: [...references, 'https://attack.mitre.org/techniques/T1218/'],
    patterns: [
      regex`\bmshta(\.exe)?\s["']?(https?:|javascript:|vbscript:)|\bregsvr32(\.exe)?\s{0-60 in line}/i:\s?["']?https?
        :|\brundll32(\.exe)?\s["']?(javascript:|{0-60 in line}https?:)|\bcertutil(\.exe)?\s{0-40 in line}-urlcache\b
        {0-80 in line}https?:|\bbitsadmin(\.exe)?\s{0-60 in line}/transfer\b{0-80 in line}https?:|
        \bwmic\b{0-80 in line}/format:\s?["']?https?:|\bcmstp(\.exe)?\s{0-40 in line}/s\s`,
    ],
  },
]

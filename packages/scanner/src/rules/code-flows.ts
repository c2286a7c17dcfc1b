import { regexWith } from '../text/regex.ts'
import type { CodeRule } from './code-rule.ts'
import { catcherHost, dropHost, localHost, tunnelHost, untrustedHost } from './shapes.ts'
import { knownInstaller } from './known-installers.ts'

/** An address whose host is known, of another machine. */
const elsewhere = regexWith('i')`^(\w{2,5}://)?(?!${localHost}|localhost|\[)[\w-]{1,63}(\.[\w-]{1,63})+|^\uFFFC\.[\w-]`
/** An address that the code gets from elsewhere, or builds. */
const unknownAddress = regexWith('i')`^$|^(https?://)?\uFFFC(?!\.[\w-])`
const collector = regexWith('i')`^(https?://)?(${catcherHost}|${dropHost}|${tunnelHost}|${untrustedHost})`
/** Hosts of packages and installers that programs load code from. */
const codeHosts = regexWith('i')`^https?://(${knownInstaller}|(esm\.sh|cdn\.jsdelivr\.net|unpkg\.com|deno\.land|jsr\.io|
  cdn\.skypack\.dev|esm\.run|cdnjs\.cloudflare\.com|ajax\.googleapis\.com|registry\.npmjs\.org|pypi\.org|
  files\.pythonhosted\.org|${localHost})[/:\uFFFC])`

/** Released programs, which their address identifies. */
const releases = regexWith(
  'i',
)`^https?://github\.com/[\w.-]{1,60}/[\w.-]{1,80}/releases/|\.(pkg|deb|rpm|appimage|dmg|msi|whl)$`
/** The rules about text that find a download that is run on the same line. */
const pipes = ['piped-remote-code', 'piped-known-installer', 'piped-from-nowhere', 'downloaded-and-run']

const exfiltration = {
  category: 'exfiltration',
  references: [
    'https://attack.mitre.org/techniques/T1041/',
    'https://attack.mitre.org/techniques/T1552/',
    'https://cwe.mitre.org/data/definitions/200.html',
  ],
  remediation: 'Remove it. Send a secret only to the service that issued it.',
} as const

const running = {
  category: 'remote-code',
  references: [
    'https://cwe.mitre.org/data/definitions/494.html',
    'https://cwe.mitre.org/data/definitions/95.html',
    'https://attack.mitre.org/techniques/T1105/',
  ],
  remediation: 'Ship the code with the skill, or install a pinned version with a package manager.',
} as const

/** Values that reach another machine. */
const leaving: readonly CodeRule[] = [
  {
    ...exfiltration,
    id: 'code-sends-secret-file',
    severity: 'critical',
    signal: 'hostile',
    title: 'Sends the content of a store of credentials to another machine',
    why: 'The recipient can act as the user, on this machine and on others.',
    from: { kinds: ['secret-read'] },
    to: { kinds: ['network-send'], value: elsewhere },
  },
  {
    ...exfiltration,
    id: 'code-sends-secret-away',
    severity: 'high',
    signal: 'suspicious',
    title: 'Sends the content of a store of credentials to an address that is not in the code',
    why: 'The recipient can act as the user, and cannot be reviewed.',
    from: { kinds: ['secret-read'] },
    to: { kinds: ['network-send'], value: unknownAddress },
  },
  {
    ...exfiltration,
    id: 'code-sends-environment',
    severity: 'critical',
    signal: 'hostile',
    title: 'Sends all environment variables to another machine',
    why: 'The environment may contain tokens of every service that the user works with.',
    from: { kinds: ['environment-read'], value: /^$/ },
    to: { kinds: ['network-send'], value: elsewhere },
  },
  {
    ...exfiltration,
    id: 'code-sends-environment-away',
    severity: 'high',
    signal: 'suspicious',
    title: 'Sends all environment variables to an address that is not in the code',
    why: 'The environment may contain tokens of every service that the user works with.',
    from: { kinds: ['environment-read'], value: /^$/ },
    to: { kinds: ['network-send'], value: unknownAddress },
  },
  {
    ...exfiltration,
    id: 'code-sends-settings',
    severity: 'high',
    signal: 'suspicious',
    title: 'Sends a file of environment variables to another machine',
    why: 'Such files contain the passwords and keys of a project.',
    from: { kinds: ['environment-read'], value: /./ },
    to: { kinds: ['network-send'], value: elsewhere },
  },
  {
    ...exfiltration,
    id: 'code-sends-user-data',
    severity: 'high',
    signal: 'suspicious',
    title: 'Collects files, input or history of the user, and sends them',
    why: 'Such data contains passwords, messages and the work of other projects.',
    remediation: 'Let the user choose what is sent, and name the recipient.',
    from: { kinds: ['data-collected'] },
    to: { kinds: ['network-send'] },
  },
  {
    ...exfiltration,
    id: 'code-sends-key-to-collector',
    severity: 'critical',
    signal: 'hostile',
    title: 'Sends secrets to an address without a known owner',
    why: 'Request catchers, drop sites, tunnels and bare addresses need secrets only for theft.',
    from: { kinds: ['variable-read', 'environment-read', 'data-collected'] },
    to: { kinds: ['network-send'], value: collector },
  },
  {
    ...exfiltration,
    id: 'code-sends-key-to-stranger',
    severity: 'high',
    signal: 'suspicious',
    title: 'Sends the key of a service as data to a host that is not of that service',
    why: 'The recipient of the key can act as its owner.',
    from: { kinds: ['variable-read'] },
    to: { kinds: ['network-send'], value: elsewhere },
    isToStranger: true,
  },
  {
    ...exfiltration,
    id: 'code-sends-keys',
    severity: 'critical',
    signal: 'hostile',
    title: 'Sends the keys of several services as data to one address',
    why: 'No service needs the keys of others.',
    from: { kinds: ['variable-read'] },
    to: { kinds: ['network-send'], value: elsewhere },
    valuesMin: 3,
    isToStranger: true,
  },
]

/** Values that are run. */
const run: readonly CodeRule[] = [
  {
    ...running,
    id: 'code-runs-download',
    severity: 'critical',
    signal: 'hostile',
    title: 'Runs what another machine sends as code',
    why: 'The owner of the address decides at each run what the machine does.',
    from: { kinds: ['network-fetch'], value: elsewhere, except: codeHosts },
    to: { kinds: ['dynamic-run'] },
  },
  {
    ...running,
    id: 'code-runs-answer',
    severity: 'high',
    signal: 'suspicious',
    title: 'Runs the response of an address that is not in the code',
    why: 'The owner of the address decides at each run what the machine does.',
    from: { kinds: ['network-fetch'], value: unknownAddress },
    to: { kinds: ['dynamic-run'] },
  },
  {
    ...running,
    id: 'code-starts-download',
    severity: 'high',
    signal: 'suspicious',
    title: 'Downloads a program and starts it',
    why: 'The owner of the address can replace the program at any time.',
    from: { kinds: ['network-fetch'], value: elsewhere, except: regexWith('i')`${codeHosts}|${releases}` },
    to: { kinds: ['program-run'] },
    unlessReported: pipes,
  },
  {
    ...running,
    id: 'code-runs-decoded',
    category: 'obfuscation',
    severity: 'critical',
    signal: 'hostile',
    title: 'Decodes a text in the code and runs it',
    why: 'An encoded program hides from review what it does until it runs.',
    references: ['https://attack.mitre.org/techniques/T1027/', 'https://attack.mitre.org/techniques/T1140/'],
    remediation: 'Write the program as readable code.',
    from: { kinds: ['decode'] },
    to: { kinds: ['dynamic-run', 'program-run'] },
  },
]

/** Values that are planted where others run or obey them. */
const planted: readonly CodeRule[] = [
  {
    ...running,
    id: 'code-plants-download',
    category: 'persistence',
    severity: 'critical',
    signal: 'hostile',
    title: 'Writes downloaded or decoded content to a file that is run at startup',
    why: 'The content runs at every start, also after the skill is removed.',
    references: ['https://attack.mitre.org/tactics/TA0003/', 'https://attack.mitre.org/techniques/T1546/'],
    from: { kinds: ['network-fetch', 'decode'] },
    to: { kinds: ['startup-write'] },
  },
  {
    ...running,
    id: 'code-plants-instructions',
    category: 'persistence',
    severity: 'high',
    signal: 'suspicious',
    title: 'Writes downloaded content to a file that controls agents',
    why: 'The owner of the address decides what the agent does in all later sessions.',
    references: ['https://atlas.mitre.org/techniques/AML.T0080', 'https://attack.mitre.org/tactics/TA0003/'],
    remediation: 'Ship the instructions with the skill, and let the user add them.',
    from: { kinds: ['network-fetch', 'decode'] },
    to: { kinds: ['agent-config-write'] },
  },
]

export const codeRules: readonly CodeRule[] = [...leaving, ...run, ...planted]

import type { Combination, Fact } from '../match/rule.ts'
import { sends, wholeEnvironment } from './sends.ts'
import { keyFile, keyFileAnchors } from './shapes.ts'
import { regex } from '../text/regex.ts'
import { containing } from '../match/pattern-tags.ts'

const category = 'exfiltration'
const references = [
  'https://attack.mitre.org/techniques/T1041/',
  'https://attack.mitre.org/techniques/T1119/',
  'https://cwe.mitre.org/data/definitions/200.html',
]
const remediation = 'Remove it. No skill needs to send keys, tokens or .env files to another machine.'

export const facts: readonly Fact[] = [
  ...sends,
  {
    id: 'names-secret-file',
    patterns: [
      containing([...keyFileAnchors, '.env'])`(["'~/$}]|home,\s?["'])([\w.~$\{}-]{0,24}[/\\]){0,3}${keyFile}|
        ["'](\*\*/|//|/|\./)?\.env(\.\w{1,12})?["']`,
      /["'][\w/.]{0,24}\.?tfstate["']/,
      regex`["'~](/etc/passwd|/var/log/auth\.log|/?\.\w{2,5}_history)["']`,
      regex`["'~][\w/.~-]{0,30}(credentials|secrets)\.(json|ya?ml|toml|db)["']`,
    ],
  },
  {
    id: 'reads-in-code',
    patterns: [
      containing(`open(|open (|readfile|read_text|read_bytes|file_get_contents|file.read|ioutil|os.readfile|
        shutil.copy`)`(?<![\w.])open\s?\(\s?[\w"']|\breadfile(sync)?\s?\(|\.read_(text|bytes)\s?\(|
        \bfile_get_contents\s?\(|\bfile\.read\s?\(|\b(os|ioutil)\.readfile\s?\(|\bshutil\.copy2?\s?\(`,
    ],
  },
  {
    id: 'reads-whole-environment',
    patterns: [
      {
        anchors: [
          'environ',
          'process.env',
          '$(env',
          '$(printenv',
          'printenv',
          'env |',
          'env >',
          'env:',
          'env.to_h',
          'getenv()',
          '$(set',
        ],
        match: wholeEnvironment,
      },
    ],
  },
  {
    id: 'walks-files',
    patterns: [
      containing(`os.walk|rglob|glob(|glob.|readdirsync|filepath.walk|tar |zip -r|zipfile|make_archive`)`
        \bos\.walk\s?\(|\.rglob\s?\(|\bfilepath\.walk|\bzipfile\.zipfile\s?\({0-40 in line}["']w|\bmake_archive\s?\(
        |\btar\s-?\w{0,3}c\w{0,3}\s{0-60 in line}(~|\$home|/home)`,
    ],
  },
]

export const combinations: readonly Combination[] = [
  {
    id: 'secret-file-collected-and-sent',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Reads a file of secrets and sends data from the same code',
    why: 'The data sent may be the secrets that were read.',
    remediation,
    references,
    all: [['names-secret-file'], ['reads-in-code'], ['sends-data']],
    within: 90,
  },
  {
    id: 'key-file-read-and-sent',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Reads private keys, and sends data to an address a few lines later',
    why: 'The data sent may be the keys that were read.',
    remediation,
    references,
    all: [
      [
        'key-file-read',
        'credential-sweep',
        'keychain-dump',
        'browser-store-read',
        'wallet-read',
        'password-file-read',
        'shell-history-read',
        'cloud-identity-read',
      ],
      ['sends-data', 'sends-to-address', 'uploads', 'sends-in-address'],
    ],
    within: 12,
  },
  {
    id: 'secrets-collected-and-sent',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Collects the secrets of several services and sends data from the same code',
    why: 'Each key is meant only for the service that issued it.',
    remediation: 'Send a key only to the service that issued it.',
    references,
    all: [['secrets-listed', 'credential-sweep'], ['sends-data']],
    within: 'file',
  },
  {
    id: 'environment-collected-and-sent',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Reads the whole environment and sends data from the same code',
    why: 'The environment may contain tokens of every service that the user works with.',
    remediation: 'Read only the variable that is needed.',
    references,
    all: [['reads-whole-environment'], ['sends-data', 'sends-to-address', 'sends-in-address']],
    within: 60,
  },
  {
    id: 'files-collected-and-sent',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Reads all files of a folder and sends data from the same code',
    why: 'A work folder contains unpublished data.',
    remediation: 'State what is sent and where, and ask the user first.',
    references,
    all: [['walks-files'], ['reads-in-code'], ['sends-data']],
    within: 60,
  },
]

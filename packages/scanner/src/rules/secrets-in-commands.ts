import type { Rule } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { placeholder } from './embedded-secrets.ts'

const category = 'embedded-secret'
const references = [
  'https://cwe.mitre.org/data/definitions/214.html',
  'https://cwe.mitre.org/data/definitions/522.html',
  'https://cwe.mitre.org/data/definitions/798.html',
]

/** Not a secret: a placeholder, or words about one. */
const sample = regex`(?!${placeholder}|[\w.-]{0,60}(process\.|environ|config\.|self\.|[pP]assw|PASSW|[sS]ecret|SECRET|[tT]oken|TOKEN|[kK]ey|KEY|\*\*\*|mypass))`
/** At least one digit, one small and one capital letter; or a long number in base 16. */
const random = regex`((?=[^\s"'@]{0,40}\d)(?=[^\s"'@]{0,40}[a-z])(?=[^\s"'@]{0,40}[A-Z])|(?=[0-9a-f]{32})(?=[a-f]{0,9}\d))`
const secretOption = regex`--(password|passwd|pass|token|api-?key|secret(-key)?|client-secret|(access|auth)-(token|key)|private-key)`
const optionAnchors = [
  '--pass',
  '--token',
  '--api',
  '--secret',
  '--client-secret',
  '--access-',
  '--auth-',
  '--private-',
]
const forge = [
  '@github.com',
  '@gitlab.',
  '@bitbucket.org',
  '@codeberg.org',
  '@huggingface.co',
  '@dev.azure.com',
  '@git.',
]

/** Rules about secrets in the arguments of commands, in headers and in the addresses of remotes. */
export const rules: readonly Rule[] = [
  {
    id: 'secret-in-command',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Contains a probable secret in a command, a header or an address',
    why: 'Everyone who can read the skill can use it, and agents copy it into their logs and into the configuration of git.',
    remediation:
      'Revoke the secret at its issuer, and read a new one from the environment; published versions stay readable.',
    references,
    regardless: true,
    patterns: [
      {
        anchors: ['://'],
        match: regex`\bhttps?://[\w.-]{1,32}:${sample}${random}[^\s@/"'<>$\{}%*]{10,120}@(?!localhost|127\.|
          [\w.-]{0,40}example)[\w-]{1,40}\.[\w.-]{2,60}`,
        view: 'raw',
      },
      {
        anchors: forge,
        match: regex`\bhttps?://${sample}${random}[\w-]{20,120}@[\w-]{1,40}\.[\w.-]{2,60}`,
        view: 'raw',
      },
      {
        anchors: ['authorization', 'api-key', 'auth-token', 'private-token'],
        match: regex`\b([aA]uthorization["']?\s?[:=]\s?["']?(Bearer|bearer|[tT]oken|Basic)|
          ([xX]-)?[aA][pP][iI]-[kK][eE][yY]["']?\s?:|[xX]-[aA]uth-[tT]oken["']?\s?:|PRIVATE-TOKEN["']?\s?:)\s?["']?(?!eyJ)
          ${sample}${random}[\w.~+/-]{20,200}={0,2}(?=["'\x60\s,;)]|$)(?<!\.\.)`,
        view: 'raw',
      },
      {
        anchors: optionAnchors,
        match: regex`(?<![\w-])${secretOption}[ =]["']?${sample}(?=([^\s\d]{0,30}\d){2})${random}
          [^\s"'\x60$<>\{},;()|]{12,120}(?=["'\x60\s]|$)(?<!\.\.)`,
        view: 'raw',
      },
    ],
  },
  {
    id: 'secret-in-arguments',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Passes a secret in the arguments of a command or in the address of a remote',
    why: 'Other processes can read the arguments of a command, shells record them, and git stores the address of a remote.',
    remediation: 'Pass the secret in an environment variable, on standard input, or with a credential helper.',
    references,
    patterns: [
      {
        anchors: optionAnchors,
        match: regex`(?<![\w-])${secretOption}[ =]["']?(\$\{?\{?\s?\w|%\w{2,40}%)`,
        view: 'raw',
      },
      {
        anchors: [
          'token}@',
          'token@',
          'pat}@',
          '$pat@',
          '_pat@',
          'key}@',
          '_key@',
          'pass}@',
          '_pass@',
          'word}@',
          'password@',
        ],
        match: regex`\bhttps?://([\w.-]{1,40}:)?\$\{?\w{0,40}([tT]oken|TOKEN|PAT|pat|PASS(WORD)?|[pP]ass(word)?|[kK]ey|KEY)\}?@[\w$\{-]`,
        view: 'raw',
      },
    ],
  },
]

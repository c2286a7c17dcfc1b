import type { Pattern, Rule } from '../match/rule.ts'
import { regex } from '../text/regex.ts'

const category = 'embedded-secret'
const references = [
  'https://cwe.mitre.org/data/definitions/798.html',
  'https://owasp.org/www-project-top-10-for-large-language-model-applications/',
]
const remediation =
  'Revoke the secret at its issuer, and read a new one from the environment; published versions stay readable.'

/** Signs that a text is a placeholder and not a secret; `PLACEHOLDER` in the expression of a token. */
export const placeholder = regex`[\w-]{0,60}([eE]xample|EXAMPLE|[xX]{4}|\.\.\.|[yY]our|YOUR|[pP]laceholder|[rR]edacted|
  REDACTED|[fF]ake|[tT]est|TEST|
  [dD]ummy|[sS]ample|[hH]ere|HERE|[cC]hange|0000|1111|1234|abcd|ABCD|abc123|deadbeef|aaaa|AAAA|
  foobar|replace|insert|<|\$|\{)`

/** A case-sensitive pattern: the case distinguishes the tokens of a provider from words. */
const token = (anchor: string, { source }: RegExp): Pattern => ({
  anchors: [anchor],
  match: new RegExp(source.replace('PLACEHOLDER', `(?!${placeholder.source})`)),
  view: 'raw',
})

/** Rules about secrets in the text of a skill. */
export const rules: readonly Rule[] = [
  {
    id: 'embedded-token',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Contains a token of a service',
    why: 'Everyone who can read the skill can use the account of the token.',
    remediation,
    references,
    regardless: true,
    patterns: [
      token('akia', regex`\b(AKIA|ASIA)(?=[A-Z2-7]{0,15}\d)PLACEHOLDER[A-Z2-7]{16}\b`),
      token('ghp_', regex`\bghp_PLACEHOLDER[A-Za-z0-9]{36}\b`),
      token('gho_', regex`\bgho_PLACEHOLDER[A-Za-z0-9]{36}\b`),
      token('ghs_', regex`\bghs_PLACEHOLDER[A-Za-z0-9]{36}\b`),
      token('github_pat_', regex`\bgithub_pat_PLACEHOLDER[A-Za-z0-9]{22}_[A-Za-z0-9]{40,59}\b`),
      token('glpat-', regex`\bglpat-PLACEHOLDER(?=[\w-]{0,19}\d)[\w-]{20,50}\b`),
      token('xox', regex`\bxox[abposr]-\d{8,14}-PLACEHOLDER[A-Za-z0-9-]{16,80}\b`),
      token(
        'hooks.slack.com',
        regex`\bhooks\.slack\.com/services/T(?=\w{0,10}\d)PLACEHOLDER[A-Z0-9]{8,11}/B[A-Z0-9]{8,11}/[A-Za-z0-9]{24}\b`,
      ),
      token('/api/webhooks/', regex`\bdiscord(app)?\.com/api/webhooks/(?!1234|0000)\d{17,20}/PLACEHOLDER[\w-]{60,80}`),
      token('sk_live_', regex`\b(sk|rk)_live_PLACEHOLDER[A-Za-z0-9]{24,99}\b`),
      token('rk_live_', regex`\brk_live_PLACEHOLDER[A-Za-z0-9]{24,99}\b`),
      token('sk-ant-', regex`\bsk-ant-(api|admin|oat)\d{2}-PLACEHOLDER[\w-]{60,120}`),
      token('sk-proj-', regex`\bsk-(proj|svcacct|admin)-PLACEHOLDER(?=[\w-]{0,30}\d)(?=[\w-]{0,30}[A-Z])[\w-]{40,180}`),
      token('t3blbkfj', regex`\bsk-PLACEHOLDER[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b`),
      token('sk-or-v1-', regex`\bsk-or-v1-PLACEHOLDER[0-9a-f]{64}\b`),
      token('aiza', regex`\bAIza(?=[\w-]{0,34}\d)PLACEHOLDER[\w-]{35}(?![\w-])`),
      token('npm_', regex`\bnpm_(?=[A-Za-z]{0,35}\d)PLACEHOLDER[A-Za-z0-9]{36}\b`),
      token('pypi-ageichlwas', regex`\bpypi-AgEIcHlwaS5vcmc[\w-]{50,180}`),
      token('sg.', regex`\bSG\.PLACEHOLDER[\w-]{22}\.[\w-]{43}\b`),
      token('hf_', regex`\bhf_(?=[a-z]{0,33}[A-Z])PLACEHOLDER[A-Za-z]{34}\b`),
      token('accountkey=', regex`\bAccountKey=PLACEHOLDER[A-Za-z0-9+/]{86}==`),
      token(':aa', regex`\b\d{8,10}:AA(?=[\w-]{0,32}\d)PLACEHOLDER[\w-]{32,34}(?![\w-])`),
      token('dop_v1_', regex`\bdop_v1_PLACEHOLDER[0-9a-f]{64}\b`),
      token('shpat_', regex`\bshp(at|ss|ca|pa)_PLACEHOLDER[0-9a-f]{32}\b`),
      token(
        'eyj',
        regex`\beyJhbGciOi[\w-]{10,80}\.eyJ(?=[\w-]{60})(?![\w-]{0,60}(MTIzNDU2Nzg5MC))
        [\w-]{40,200}\.(?!SflKxw)(?=[\w-]{0,40}\d)[\w-]{40,90}(?![\w.-]*\.\.\.)`,
      ),
      token('gsk_', regex`\bgsk_(?=[A-Za-z]{0,51}\d)PLACEHOLDER[A-Za-z0-9]{52}\b`),
      token('xai-', regex`\bxai-(?=[A-Za-z]{0,79}\d)PLACEHOLDER[A-Za-z0-9]{80}\b`),
    ],
  },
  {
    id: 'embedded-private-key',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Contains a private key',
    why: 'Everyone who can read the skill can act as the owner of the key.',
    remediation,
    references,
    regardless: true,
    patterns: [
      {
        anchors: ['private key'],
        match: regex`-----BEGIN (RSA |EC |DSA |OPENSSH |PGP |ENCRYPTED )?PRIVATE KEY( BLOCK)?-----(\s|\\n){1,4}
          ([A-Za-z-]{3,20}: [^\n]{1,60}\n{1,2}){0,2}(?!\.\.\.|[A-Za-z0-9+/]{0,62}(\.\.\.|your|example|xxxx))
          (?=[A-Za-z+/]{0,30}\d)[A-Za-z0-9+/=]{40,64}`,
        view: 'raw',
      },
      {
        anchors: ['private_key', 'privatekey', 'private key'],
        match: regex`\b(PRIVATE_KEY|private_key|privateKey|wallet_key|WALLET_KEY)["']?\s{0,2}[:=]\s{0,2}["']?0x
          (?!(0123|1234|abcd|dead|ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80|
          (?<same>[0-9a-f])\k<same>{5}))[0-9a-f]{64}\b`,
        view: 'raw',
      },
    ],
  },
  {
    id: 'embedded-password',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Contains a probable password or key',
    why: 'Everyone who can read the skill can use the password or key.',
    remediation,
    references,
    regardless: true,
    patterns: [
      {
        anchors: ['://'],
        match: regex`\b(postgres(ql)?|mysql|mongodb(\+srv)?|redis|amqps?|ftps?|smtps?)://(?!user|root|postgres|admin|
          username|guest|test|your|dev|app|example|<|\$|\{)[\w.-]{2,32}:(?!pass|pwd|secret|test|example|your|xxx|
          postgres|admin|root|changeme|dev|local|\*|<|\$|\{|%)(?=[^\s@/]{0,30}\d)[^\s@/"'<>$\{}]{8,48}@(?!localhost|
          127\.|db\b|postgres\b|host|redis\b|mongo|mysql\b|example|your|<|\$|\{)[\w.-]{4,60}`,
        view: 'raw',
      },
      {
        anchors: ['curl'],
        match: regex`\bcurl\b[^\n]{0,120}\s(-u|--user)\s?["']?(?!user|admin:admin|username|your|test|\$|<|\{|
          elastic:changeme)[\w.-]{2,24}:(?!pass\b|password["'\s@]|pwd|secret["'\s]|your|\$|<|\{|x\b|api)
          (?=[^\s"']{0,30}\d)[^\s"'$<{}]{8,40}["'\s]`,
        view: 'raw',
      },
      {
        anchors: [
          'api_key',
          'apikey',
          'api-key',
          'secret',
          'password',
          'token',
          'access_key',
          'passwd',
          'api secret',
          'api key',
        ],
        match: regex`\b(api[_ -]?(key|secret)|secret[_-]?(key|access[_-]?key)?|access[_-]?(key|token)|auth[_-]?token|
          client[_-]?secret|password|passwd|API[_ ]?(KEY|SECRET)|[A-Z]{2,20}_(API_)?(KEY|TOKEN|SECRET|PASSWORD)|
          SECRET_(KEY|ACCESS_KEY)|PASSWORD)["']?\s{0,2}[:=]\s{0,2}["']?(?!0x)
          (?![\w-]{0,40}([eE]xample|EXAMPLE|[xX]{3}|[yY]our|YOUR|[pP]laceholder|[rR]edacted|[fF]ake|test|TEST|
          [dD]ummy|[sS]ample|here|HERE|[cC]hange|0000|process|environ|getenv|config|secret|SECRET_|[pP]assword|key_|
          _key|token|abc|ABC|deadbeef|<))(?=[A-Za-z]{0,20}\d)(?=[a-z0-9_-]{0,24}[A-Z])(?=[A-Z0-9_-]{0,24}[a-z])
          (?=([A-Za-z_-]{0,24}\d){3})[A-Za-z0-9_/+-]{24,80}={0,2}(?=["'\s,;]|$)`,
        view: 'raw',
      },
    ],
  },
]

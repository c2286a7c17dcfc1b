import type { Pattern, Rule } from '../match/rule.ts'
import { issuers, known, type Issuer } from './issuers.ts'
import { catcherHost, dropHost, tunnelHost, words } from './shapes.ts'
import { byAuthor, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'exfiltration'
const references = [
  'https://attack.mitre.org/techniques/T1552/',
  'https://attack.mitre.org/techniques/T1048/',
  'https://cwe.mitre.org/data/definitions/522.html',
]
const remediation = 'Remove it. Send a secret only to the service that issued it.'

const anyIssuer = new RegExp(issuers.map(({ hosts }) => hosts.source).join('|'))

/** `$OPENAI_API_KEY`, `${AWS_SECRET_ACCESS_KEY}`, `%NPM_TOKEN%`, `$env:GH_TOKEN`. */
const secretName = regex`\w{0,24}(key|token|secret|passw(or)?d|pass|pwd|credentials?)(_\w{1,10})?\b`
const fetchers = regex`\b(curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|xh|httpie)\b`
/** A command that sends the key of a service, and whose first address is not of that service. */
function toStrangers({ variables, hosts }: Issuer): Pattern[] {
  const anchors = variables.flatMap((name) => ['$', '{', ':', '%'].map((mark) => `${mark}${name}_`))
  const variable = regex`[$\{:%]${new RegExp(variables.join('|'))}_${secretName}`
  const stranger = regex`(?<!://{0-300 in line})https?://(?!${hosts}|${known})`
  return [
    containing(anchors)`${fetchers}{0-300 in line}${variable}{0-300 in line}${stranger}`,
    containing(anchors)`${fetchers}{0-160 in line}${stranger}{0-300 in line}${variable}`,
  ]
}

const callers = regex`\b(urlopen|urlretrieve|requests?\.\w{3,7}|httpx\.\w{3,7}|fetch|
  axios(\.\w{3,5})?|got|https?\.(get|request)|net::http\.\w{3,9}|file_get_contents)\s?\(`
const environment = regex`\b(os\.)?(environ\s?(\[|\.get\s?\()|getenv\s?\()|\bprocess\.env(\.|\[)|
  \b(deno|bun)\.env\.(get\s?\()?|\benv\s?(\[|\.fetch\s?\()`

/** A line of a program that sends the key of a service to another service. */
function toStrangersInCode({ variables, hosts }: Issuer): Pattern[] {
  const anchors = variables.flatMap((name) => ['"', "'", '.'].map((mark) => `${mark}${name}_`))
  const variable = regex`${environment}\s?\\?["']?${new RegExp(variables.join('|'))}_${secretName}`
  const stranger = regex`https?://(?!${hosts}|${known})`
  return [
    containing(anchors)`${callers}{0-60 in line}${stranger}{0-200 in line}${variable}`,
    containing(anchors)`${variable}{0-200 in line}${callers}{0-60 in line}${stranger}`,
  ]
}

const anySecret = regex`\$(env:)?\{?(\w{1,24}_)?(api_?key|access_key|secret_key|private_key|secret|token|passw(or)?d|
  credentials?)(_\w{1,10})?\b\}?`
const secretAnchors = ['key', 'token', 'secret', 'passw', 'credential']

/** Commands that send only a key, instead of using it to authenticate another request. */
const bareSecrets: readonly Pattern[] = [
  containing(secretAnchors)`${fetchers}{0-160 in line}\s(-d|--data(-raw|-binary|-urlencode|-ascii)?|--post-data|
    --json|-body)[\s=]["']?(\w{1,12}=)?${anySecret}["']?(?=\s|$|\uE000){0-160 in line}https?://(?!${known})`,
  containing(secretAnchors)`\b(echo|printf|printenv|print)\s[^\n\uE000|]{0,40}?${anySecret}["']?[^\n\uE000|]{0,8}\|
    {0-60 in line}${fetchers}{0-160 in line}https?://(?!${known})`,
]

const sendVerb = regex`(?<!\b(not|never|n't|that|may|might|could|can|to|or|accidentally|cannot
  |which|who|attackers?|malware) )\b(send|upload|post|transmit|exfiltrate|forward|e-?mail|sync|copy|submit|deliver|
  report|push|relay)(s|ing)?\b`
const secretThings = regex`(?<![\w.])\.env\b(?!\.(example|sample|template))|
  \b(all |every )?environment variables?\b|\benv vars?\b|\b(credentials?|passwords?|api[ _-]?keys?|
  access (keys?|tokens?)|secrets?|private keys?|ssh keys?|session cookies|seed phrases?)\b|\bid_(rsa|ed25519)\b|
  \.ssh\b|\.aws\b`

/** The text before the name of an environment variable in a sentence. */
const named = regex`([$\{%:]|\b(values?|contents?) (of|in) ((the|your|their) )?["'$%{:]{0,3})`
const passedTo = regex`[^!?\n\uE000]{0,60}? (to|at|via) {0-3 words}["'<(]?https?://`

/** `Send $OPENAI_API_KEY to https://...`: a sentence that names the variable of a service, and a host of another. */
function toStrangersInWords({ variables, hosts }: Issuer): Pattern {
  const last = regex`${named}${new RegExp(variables.join('|'))}_${secretName}${passedTo}(?!${hosts}|${known})`
  return within(
    40,
    sentenceStop,
    variables.map((name) => `${name}_`),
  )`${sendVerb}${byAuthor} … ${last}`
}

/** A sentence that sends the variable of any other service to a host that does not contain the variable's prefix. */
const anyVariableInWords: Pattern = within(40, sentenceStop)`${sendVerb}${byAuthor}
  … ${named}(?<service>[a-z][a-z\d]{1,20})_(\w{1,20}_)?(api_?key|key|secret|token|passw(or)?d|credentials?)\b
  ${passedTo}(?!${known}|[\w.-]{0,60}(?=\k<service>)\w|${anyIssuer})`

/** Rules about sending secrets to recipients that did not issue them. */
export const rules: readonly Rule[] = [
  {
    id: 'secret-variable-sent',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Sends the key of a service to a host that is not of that service',
    why: 'The recipient of the key can act as its owner.',
    remediation,
    references,
    patterns: [
      ...issuers.flatMap(toStrangers),
      ...issuers.flatMap(toStrangersInCode),
      ...issuers.map(toStrangersInWords),
      anyVariableInWords,
      ...bareSecrets,
    ],
  },
  {
    id: 'secrets-to-catcher',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Sends secrets to an address that shows everyone what it receives',
    why: 'Request catchers, drop sites and tunnels need secrets only for theft.',
    remediation,
    references,
    patterns: [
      within(
        60,
        sentenceStop,
        words('.env environment env credential password key token secret cookie phrase id_rsa id_ed25519 .ssh .aws'),
      )`${sendVerb}${byAuthor}
        … ${secretThings}[^!?\n\uE000]{0,80}? (to|at|via) {0-3 words}["'<(]?https?://(${catcherHost}|${dropHost}|
        ${tunnelHost})`,
    ],
  },
]

/** A sentence that names the owner after the secret: `Upload the API key of the user to https://...`. */
export const ownedSecretSent: Pattern = within(40, sentenceStop)`${sendVerb}${byAuthor}
  … \b(api[ _-]?keys?|access keys?|{0-1 words}tokens?|passwords?|credentials?|secrets?|private keys?|ssh keys?|
  cookies) (of|from|in|found in|stored in|belonging to) ((the|this|that|your|their|its|each|every|any|our) ){0,2}
  (current )?(users?|owners?|customers?|developers?|persons?|people|clients?|humans?|operators?|victims?|machine|
  computer|host|system|keychain|environment|browser|session|conversation|home|config(uration)?|\.env)\b
  [^!?\n\uE000]{0,40}? (to|at|via) {0-3 words}["'<(]?https?://(?!${known})`

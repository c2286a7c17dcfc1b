import type { Pattern, Rule } from '../rule.ts'
import { catcherHost, dropHost, localHost, shape, tunnelHost, words } from './shapes.ts'
import { byAuthor, sentenceStop } from './words.ts'

const category = 'exfiltration'
const references = [
  'https://attack.mitre.org/techniques/T1552/',
  'https://attack.mitre.org/techniques/T1048/',
  'https://cwe.mitre.org/data/definitions/522.html',
]
const remediation = 'Remove it. A secret goes to the service that issued it, and nowhere else.'

/** A service whose keys are worth stealing: how their variables begin, and the hosts that they belong to. */
interface Issuer {
  readonly variables: readonly string[]
  readonly hosts: RegExp
}

const issuers: readonly Issuer[] = [
  { variables: ['openai'], hosts: /[\w.-]{0,60}(?:openai|azure)/ },
  { variables: ['anthropic', 'claude'], hosts: /[\w.-]{0,60}(?:anthropic|claude)\.(?:com|ai)/ },
  { variables: ['gemini', 'google', 'gcp'], hosts: /[\w.-]{0,60}(?:google|gemini|withgoogle|appspot|gserviceaccount)/ },
  { variables: ['aws'], hosts: /[\w.-]{0,60}(?:aws|amazon)/ },
  { variables: ['azure'], hosts: /[\w.-]{0,60}(?:azure|microsoft|windows|visualstudio)/ },
  { variables: ['github', 'gh'], hosts: /[\w.-]{0,60}(?:github|ghcr\.io|ghe\.)/ },
  { variables: ['gitlab'], hosts: /[\w.-]{0,60}git/ },
  { variables: ['npm', 'node_auth'], hosts: /[\w.-]{0,60}(?:npm|registry|pkg)/ },
  { variables: ['stripe'], hosts: /[\w.-]{0,60}stripe/ },
  { variables: ['slack'], hosts: /[\w.-]{0,60}slack/ },
  { variables: ['hf', 'huggingface'], hosts: /[\w.-]{0,60}(?:huggingface|hf\.(?:co|space))/ },
  { variables: ['db', 'database', 'postgres', 'pg', 'mysql', 'mongo', 'redis', 'ssh'], hosts: /(?!)/ },
]

const anyIssuer = new RegExp(issuers.map(({ hosts }) => hosts.source).join('|'))

/** `$OPENAI_API_KEY`, `${AWS_SECRET_ACCESS_KEY}`, `%NPM_TOKEN%`, `$env:GH_TOKEN`. */
const secretName = /\w{0,24}(?:key|token|secret|passw(?:or)?d|pass|pwd|credentials?)(?:_\w{1,10})?\b/
const fetchers = /\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|xh|httpie)\b/
/** Of this node's network, or in a variable whose value nobody here knows. */
const known = shape`${localHost}|[$\{<%]|(?:www\.)?example\.`

/** A command that carries the key of a service, and whose first address is not of that service. */
function toStrangers({ variables, hosts }: Issuer): Pattern[] {
  const anchors = variables.flatMap((name) => ['$', '{', ':', '%'].map((mark) => `${mark}${name}_`))
  const variable = shape`[$\{:%](?:${new RegExp(variables.join('|'))})_${secretName}`
  const stranger = shape`(?<!:\/\/[^\n\uE000]{0,300})https?:\/\/(?!${hosts}|${known})`
  return [
    { anchors, match: shape`${fetchers}[^\n\uE000]{0,300}?${variable}[^\n\uE000]{0,300}?${stranger}` },
    { anchors, match: shape`${fetchers}[^\n\uE000]{0,160}?${stranger}[^\n\uE000]{0,300}?${variable}` },
  ]
}

const callers =
  /\b(?:urlopen|urlretrieve|requests?\.\w{3,7}|httpx\.\w{3,7}|fetch|axios(?:\.\w{3,5})?|got|https?\.(?:get|request)|net::http\.\w{3,9}|file_get_contents)\s?\(/
const environment =
  /\b(?:os\.)?(?:environ\s?(?:\[|\.get\s?\()|getenv\s?\()|\bprocess\.env(?:\.|\[)|\b(?:deno|bun)\.env\.(?:get\s?\()?|\benv\s?(?:\[|\.fetch\s?\()/

/** The same in a line of a program. */
function toStrangersInCode({ variables, hosts }: Issuer): Pattern[] {
  const anchors = variables.flatMap((name) => ['"', "'", '.'].map((mark) => `${mark}${name}_`))
  const variable = shape`${environment}\s?\\?["']?(?:${new RegExp(variables.join('|'))})_${secretName}`
  const stranger = shape`https?:\/\/(?!${hosts}|${known})`
  return [
    { anchors, match: shape`${callers}[^\n\uE000]{0,60}?${stranger}[^\n\uE000]{0,200}?${variable}` },
    { anchors, match: shape`${variable}[^\n\uE000]{0,200}?${callers}[^\n\uE000]{0,60}?${stranger}` },
  ]
}

const anySecret = shape`\$(?:env:)?\{?(?:\w{1,24}_)?(?:api_?key|access_key|secret_key|private_key|secret|token|passw(?:or)?d|credentials?)(?:_\w{1,10})?\b\}?`
const secretAnchors = ['key', 'token', 'secret', 'passw', 'credential']

/** The key is all that is sent, and not the proof of who sends something else. */
const bareSecrets: readonly Pattern[] = [
  {
    anchors: secretAnchors,
    match: shape`${fetchers}[^\n\uE000]{0,160}?\s(?:-d|--data(?:-raw|-binary|-urlencode|-ascii)?|--post-data|--json|-body)[\s=]["']?(?:\w{1,12}=)?${anySecret}["']?(?=\s|$|\uE000)[^\n\uE000]{0,160}?https?:\/\/(?!${known})`,
  },
  {
    anchors: secretAnchors,
    match: shape`\b(?:echo|printf|printenv|print)\s[^\n\uE000|]{0,40}?${anySecret}["']?[^\n\uE000|]{0,8}\|[^\n\uE000]{0,60}?${fetchers}[^\n\uE000]{0,160}?https?:\/\/(?!${known})`,
  },
]

const sendVerb =
  /(?<!\b(?:not|never|n't|that|may|might|could|can|to|or|accidentally|cannot|which|who|attackers?|malware) )\b(?:send|upload|post|transmit|exfiltrate|forward|e-?mail|sync|copy|submit|deliver|report|push|relay)(?:s|ing)?\b/
const secretThings =
  /(?<![\w.])\.env\b(?!\.(?:example|sample|template))|\b(?:all |every )?environment variables?\b|\benv vars?\b|\b(?:credentials?|passwords?|api[ _-]?keys?|access (?:keys?|tokens?)|secrets?|private keys?|ssh keys?|session cookies|seed phrases?)\b|\bid_(?:rsa|ed25519)\b|\.ssh\b|\.aws\b/

/** Of a variable of the environment that a sentence names. */
const named = /(?:[${%:]|\b(?:values?|contents?) (?:of|in) (?:(?:the|your|their) )?["'$%{:]{0,3})/
const passedTo = /[^!?\n\uE000]{0,60}? (?:to|at|via) (?:\w{1,12} ){0,3}["'<(]?https?:\/\//

/** `Send $OPENAI_API_KEY to https://...`: a sentence that names the variable of a service, and a host of another. */
function toStrangersInWords({ variables, hosts }: Issuer): Pattern {
  const last = shape`${named}(?:${new RegExp(variables.join('|'))})_${secretName}${passedTo}(?!${hosts}|${known})`
  return {
    anchors: variables.map((name) => `${name}_`),
    match: { first: byAuthor(sendVerb), last, stop: sentenceStop, withinMax: 40 },
  }
}

/** The same of any service: no part of the host is the name that the variable begins with. */
const anyVariableInWords: Pattern = {
  anchors: ['_key', '_token', '_secret', '_passw', '_credential', '_apikey'],
  match: {
    first: byAuthor(sendVerb),
    last: shape`${named}(?<service>[a-z][a-z\d]{1,20})_(?:\w{1,20}_)?(?:api_?key|key|secret|token|passw(?:or)?d|credentials?)\b${passedTo}(?!${known}|[\w.-]{0,60}(?=\k<service>)\w|${anyIssuer})`,
    stop: sentenceStop,
    withinMax: 40,
  },
}

/** Secrets that leave the machine for somebody who did not issue them. */
export const rules: readonly Rule[] = [
  {
    id: 'secret-variable-sent',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Sends the key of a service to a host of somebody else',
    why: 'Whoever receives the key acts in the name of its owner.',
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
    title: 'Has secrets sent to an address that shows everyone what arrives',
    why: 'Catchers of requests, drop sites and tunnels have no use for secrets but theft.',
    remediation,
    references,
    patterns: [
      {
        anchors: words(
          '.env environment env credential password key token secret cookie phrase id_rsa id_ed25519 .ssh .aws',
        ),
        match: {
          first: byAuthor(sendVerb),
          last: shape`(?:${secretThings})[^!?\n\uE000]{0,80}? (?:to|at|via) (?:\w{1,12} ){0,3}["'<(]?https?:\/\/(?:${catcherHost}|${dropHost}|${tunnelHost})`,
          stop: sentenceStop,
          withinMax: 60,
        },
      },
    ],
  },
]

/** `Upload the API key of the user to https://...`: whose it is stands behind it. */
export const ownedSecretSent: Pattern = {
  anchors: ['api key', 'api_key', 'token', 'password', 'credential', 'secret', 'private key', 'ssh key', 'access key'],
  match: {
    first: byAuthor(sendVerb),
    last: shape`\b(?:api[ _-]?keys?|access keys?|(?:\w{1,12} )?tokens?|passwords?|credentials?|secrets?|private keys?|ssh keys?|cookies) (?:of|from|in|found in|stored in|belonging to) (?:(?:the|this|that|your|their|its|each|every|any|our) ){0,2}(?:current )?(?:users?|owners?|customers?|developers?|persons?|people|clients?|humans?|operators?|victims?|machine|computer|host|system|keychain|environment|browser|session|conversation|home|config(?:uration)?|\.env)\b[^!?\n\uE000]{0,40}? (?:to|at|via) (?:\w{1,12} ){0,3}["'<(]?https?:\/\/(?!${known})`,
    stop: sentenceStop,
    withinMax: 40,
  },
}

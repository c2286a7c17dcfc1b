import { localHost } from './shapes.ts'
import { regex } from '../text/regex.ts'

/** A service with valuable keys: the prefixes of their variables, and the hosts that may receive them. */
export interface Issuer {
  readonly variables: readonly string[]
  readonly hosts: RegExp
}

export const issuers: readonly Issuer[] = [
  { variables: ['openai'], hosts: regex`[\w.-]{0,60}(openai|azure)` },
  { variables: ['anthropic', 'claude'], hosts: regex`[\w.-]{0,60}(anthropic|claude)\.(com|ai)` },
  {
    variables: ['gemini', 'google', 'gcp'],
    hosts: regex`[\w.-]{0,60}(google|gemini|withgoogle|appspot|
    gserviceaccount)`,
  },
  { variables: ['aws'], hosts: regex`[\w.-]{0,60}(aws|amazon)` },
  { variables: ['azure'], hosts: regex`[\w.-]{0,60}(azure|microsoft|windows|visualstudio)` },
  { variables: ['github', 'gh'], hosts: regex`[\w.-]{0,60}(github|ghcr\.io|ghe\.)` },
  { variables: ['gitlab'], hosts: /[\w.-]{0,60}git/ },
  { variables: ['npm', 'node_auth'], hosts: regex`[\w.-]{0,60}(npm|registry|pkg)` },
  { variables: ['stripe'], hosts: /[\w.-]{0,60}stripe/ },
  { variables: ['slack'], hosts: /[\w.-]{0,60}slack/ },
  { variables: ['hf', 'huggingface'], hosts: regex`[\w.-]{0,60}(huggingface|hf\.(co|space))` },
  { variables: ['db', 'database', 'postgres', 'pg', 'mysql', 'mongo', 'redis', 'ssh'], hosts: /(?!)/ },
]

/** A host that is not reported: in the local network, a variable with an unknown value, or an example. */
export const known = regex`${localHost}|[$\{<%]|(www\.)?example\.`

const strangers = issuers.map(({ variables, hosts }) => ({
  variable: new RegExp(`^(?:${variables.join('|')})_`, 'i'),
  stranger: new RegExp(`^(?!${hosts.source}|${known.source})[\\w-]`, 'i'),
}))

/** Whether the variable holds a key of a service, and the address is of another. */
export function isToStranger(variable: string, address: string): boolean {
  const host = address.replace(/^\w+:\/\//, '')
  return strangers.some((each) => each.variable.test(variable) && each.stranger.test(host))
}

/** A service with valuable keys: the prefixes of their variables, and the hosts that may receive them. */
interface Issuer {
  readonly variables: RegExp
  readonly hosts: RegExp
}

const issuers: readonly Issuer[] = [
  { variables: /^openai_/i, hosts: /openai|azure/ },
  { variables: /^(?:anthropic|claude)_/i, hosts: /(?:anthropic|claude)\.(?:com|ai)/ },
  { variables: /^(?:gemini|google|gcp)_/i, hosts: /google|gemini|appspot|gserviceaccount/ },
  { variables: /^aws_/i, hosts: /aws|amazon/ },
  { variables: /^azure_/i, hosts: /azure|microsoft|windows|visualstudio/ },
  { variables: /^(?:github|gh)_/i, hosts: /github|ghcr\.io|ghe\./ },
  { variables: /^gitlab_/i, hosts: /git/ },
  { variables: /^(?:npm|node_auth)_/i, hosts: /npm|registry|pkg/ },
  { variables: /^stripe_/i, hosts: /stripe/ },
  { variables: /^slack_/i, hosts: /slack/ },
  { variables: /^(?:hf|huggingface)_/i, hosts: /huggingface|hf\.(?:co|space)/ },
  { variables: /^(?:db|database|postgres|pg|mysql|mongo|redis|ssh)_/i, hosts: /(?!)/ },
]

/** Hosts that are not reported: in the local network, or an example. */
const known = [
  /^(?:localhost|host\.docker\.internal|127\.|0\.0\.0\.0|169\.254\.|(?:www\.)?example\.)/,
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)/,
  /^[\w-]+\.(?:local|lan|internal|test|localhost|svc)\b/,
]

/** Whether the variable holds a key of a service, and the address does not belong to this service. */
export function isToStranger(variable: string, address: string): boolean {
  const host = /^(?:\w+:\/\/)?([^/?#\s"'`]*)/.exec(address.toLowerCase())![1]!
  if (!/^[\w-]/.test(host) || known.some((each) => each.test(host))) return false
  return issuers.some(({ variables, hosts }) => variables.test(variable) && !hosts.test(host))
}

const variablePattern = /(?<![a-z\d])[a-z][a-z\d]*_\w{0,24}(?:key|token|secret|pass|pwd|credential)/i
const addressPattern = /https?:\/\/[^\s"'`)]+/i

/** Whether the first variable in a text holds a key of a service, and the first address is not of that service. */
export function namesKeyForStranger(text: string): boolean {
  const [variable, address] = [variablePattern.exec(text)?.[0], addressPattern.exec(text)?.[0]]
  return variable !== undefined && address !== undefined && isToStranger(variable, address)
}

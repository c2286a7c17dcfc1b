import { limits } from './limits.ts'

/** Short names of skills, slugs of packs and usernames: lower-case letters, digits and single inner hyphens. */
export const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Reserved usernames: profiles share the root of the node's URLs with its own pages. */
export const reservedOwners: ReadonlySet<string> = new Set(
  `account admin agents api apm assets badge blobs categories clawhub device discovery docs external favicon-ico feed git
  healthz login logout mcp me metrics npm openapi openapi-json organisations packs readyz reputation requests search session
  setup site-logo skills static system t takedowns trending users v2 well-known`.split(/\s+/),
)

/** Whether the text is a valid short name of a skill. */
export function isSkillName(text: string): boolean {
  return text.length <= limits.skillNameCharactersMax && namePattern.test(text)
}

/** Whether the text is a valid username, reserved or not. */
export function isUsername(text: string): boolean {
  return text.length <= limits.usernameCharactersMax && namePattern.test(text)
}

/** The name of a skill without its owner: `pdf` of `acme/pdf`. */
export function toShortName(fullName: string): string {
  return fullName.slice(fullName.indexOf('/') + 1)
}

/** The owner in a full name of a skill: `acme` of `acme/pdf`. */
export function toOwnerName(fullName: string): string {
  return fullName.slice(0, fullName.indexOf('/'))
}

/** Whether the text is a username, such as `acme`, or a full name of a skill, such as `acme/pdf`. */
export function isOwnerOrFullName(text: string): boolean {
  const [owner = '', name] = text.split(/\/(.*)/s)
  return isUsername(owner) && (name === undefined || isSkillName(name))
}

/** Names of Anthropic's own marketplaces: Claude Code refuses them for marketplaces of other authors. */
const reservedNames: ReadonlySet<string> = new Set([
  'agent-skills',
  'claude-code-marketplace',
  'claude-code-plugins',
  'knowledge-work-plugins',
  'life-sciences',
])
/**
 * Matches where {@link toMarketplaceName} inserts `-skills-` into a name that suggests Anthropic as its author, such as
 * `claude-plugins`: Claude Code also refuses such names.
 */
const makerNames =
  /(?<=^(?:anthropic|claude))-?(?=marketplace|plugins)|(?<=anthropic|claude)-?(?=official)|(?<=official)-?(?=anthropic|claude)/g

/** The name of the marketplace of an owner or a pack: `name`, changed if Claude Code would refuse it. */
export function toMarketplaceName(name: string): string {
  return reservedNames.has(name) ? `${name}-skills` : name.replaceAll(makerNames, '-skills-')
}

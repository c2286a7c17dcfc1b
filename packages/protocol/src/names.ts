import { limits } from './limits.ts'

/** Short names of skills, slugs of packs and usernames: lower-case letters, digits and single inner hyphens. */
export const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Reserved usernames: profiles share the root of the node's URLs with its own pages. */
export const reservedOwners: ReadonlySet<string> = new Set(
  `account admin agents api apm assets blobs categories clawhub device discovery docs external favicon-ico feed git
  healthz login logout mcp me metrics npm openapi openapi-json packs readyz reputation requests search session
  setup skills static system t trending users v2 well-known`.split(/\s+/),
)

/** Whether the text is a valid short name of a skill. */
export function isSkillName(text: string): boolean {
  return text.length <= limits.skillNameCharactersMax && namePattern.test(text)
}

/** Whether the text is a valid username, reserved or not. */
export function isUsername(text: string): boolean {
  return text.length <= limits.usernameCharactersMax && namePattern.test(text)
}

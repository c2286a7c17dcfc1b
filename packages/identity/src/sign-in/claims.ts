import type { Identity } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'

/** The claims of an ID token or of the userinfo endpoint, whose issuer, audience and signature were checked. */
export type Claims = Readonly<Record<string, unknown>>

const groupsMax = 5000
const groupCharactersMax = 500

/**
 * The account that claims describe. The name is `preferred_username`, else the address of an e-mail, which only name a
 * new account: the subject alone identifies it. Throws `forbidden` for groups that the node cannot rely on.
 */
export function toIdentity(issuer: string, subject: string, claims: Claims): Identity {
  const read = (claim: string) => {
    const value = claims[claim]
    return typeof value === 'string' && value.trim() !== '' ? value : undefined
  }
  const name = read('preferred_username') ?? read('email') ?? read('nickname') ?? read('name') ?? subject
  return { issuer, subject, name, displayName: read('name'), groups: toGroups(claims) }
}

/** Undefined if the provider sends no groups at all. */
function toGroups(claims: Claims): readonly string[] | undefined {
  // OpenID Connect Core, section 5.6.2. Entra ID sends a reference instead of more than 200 groups.
  const { _claim_names: elsewhere, groups: value } = claims
  if (typeof elsewhere === 'object' && elsewhere !== null && 'groups' in elsewhere)
    throw refuse('too many groups to list them. Let it send only the groups that are assigned to this application')
  if (value === undefined || value === null) return undefined
  const groups = Array.isArray(value) ? (value as unknown[]) : [value]
  if (groups.length > groupsMax)
    throw refuse(`${groups.length} groups, more than ${groupsMax}. Let it send only those of this application`)
  if (groups.every((group) => typeof group === 'string' && group.length <= groupCharactersMax))
    return groups as string[]
  throw refuse(`groups that are not texts of at most ${groupCharactersMax} characters. Check the mapping of the claim`)
}

function refuse(what: string): RegistryError {
  return new RegistryError('forbidden', `The identity provider reports ${what}.`)
}

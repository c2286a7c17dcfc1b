import type { Identity } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'

/** The claims of a verified ID token, with the additional claims of the userinfo endpoint for the same subject. */
export type Claims = Readonly<Record<string, unknown>>

const groupsMax = 5000
const groupCharactersMax = 500

/**
 * The account that the claims describe. Its name is the first of `preferred_username`, `email`, `nickname`, `name` and
 * the subject, and is only used for a new account: issuer and subject identify the account. Throws `forbidden` for an
 * invalid or incomplete list of groups.
 */
export function toIdentity(issuer: string, subject: string, claims: Claims): Identity {
  const read = (claim: string) => {
    const value = claims[claim]
    return typeof value === 'string' && value.trim() !== '' ? value : undefined
  }
  const name = read('preferred_username') ?? read('email') ?? read('nickname') ?? read('name') ?? subject
  return { issuer, subject, name, displayName: read('name'), groups: toGroups(claims) }
}

/** The groups of the account; undefined if the provider sends no claim about groups. */
function toGroups(claims: Claims): readonly string[] | undefined {
  // `_claim_names`: claims at another address (OpenID Connect Core, 5.6.2), which Entra ID sends for over 200 groups.
  const { _claim_names: elsewhere, groups: value } = claims
  if (typeof elsewhere === 'object' && elsewhere !== null && 'groups' in elsewhere)
    throw toClaimError(
      'too many groups to list them. Let it send only the groups that are assigned to this application',
    )
  if (value === undefined || value === null) return undefined
  const groups: unknown[] = Array.isArray(value) ? value : [value]
  if (groups.length > groupsMax)
    throw toClaimError(`${groups.length} groups, more than ${groupsMax}. Let it send only those of this application`)
  if (groups.every((group) => typeof group === 'string') && groups.every(({ length }) => length <= groupCharactersMax))
    return groups
  throw toClaimError(
    `groups that are not texts of at most ${groupCharactersMax} characters. Check the mapping of the claim`,
  )
}

function toClaimError(what: string): RegistryError {
  return new RegistryError('forbidden', `The identity provider reports ${what}.`)
}

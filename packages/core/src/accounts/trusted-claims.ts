import { ciServices } from '@skillstead/protocol'
import { invalidField } from '../kernel/field-errors.ts'

/**
 * Refuses claims by which strangers could publish: without one that says whose job it is, or with a pattern in it that
 * begins before the name of the owner is complete. Throws `invalid_request`.
 */
export function refuseWideClaims(issuer: string, claims: Readonly<Record<string, string>>): void {
  const services = Object.values(ciServices)
  const names = services.find((service) => service.issuer === issuer.replace(/\/+$/, ''))?.identifying
  const chosen = Object.entries(claims).filter(([name]) => !names || names.includes(name))
  if (chosen.some(([, value]) => isNarrow(value))) return
  throw invalidField(
    'claims',
    `must name ${names ? `one of ${names.join(', ')}` : 'a claim'} with a value, or a pattern whose \`*\` follows a complete owner, as in acme/*: otherwise strangers could publish`,
  )
}

/** `repo:*` and `acme*` fit strangers; `acme/*`, `repo:acme/*` and `organization:acme:*` do not. */
function isNarrow(value: string): boolean {
  const star = value.indexOf('*')
  return star === -1 || /[^/:]\/$|:[^/:]+:$/.test(value.slice(0, star))
}

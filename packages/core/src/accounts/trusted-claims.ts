import { invalidField } from '../kernel/field-errors.ts'

/**
 * The claims of public CI services that say whose job it is, one of which an owner has to name: every customer of such a
 * service gets tokens of the same issuer, and any repository can call a public workflow of another (`job_workflow_ref`).
 */
const identifying: Readonly<Record<string, readonly string[]>> = {
  'https://token.actions.githubusercontent.com': [
    'repository',
    'repository_id',
    'repository_owner',
    'repository_owner_id',
    'sub',
  ],
  'https://gitlab.com': ['project_path', 'project_id', 'namespace_path', 'namespace_id', 'sub'],
  'https://agent.buildkite.com': ['organization_slug', 'organization_id', 'pipeline_id', 'sub'],
}

/**
 * Refuses claims by which strangers could publish: without one that says whose job it is, or with a pattern in it that
 * begins before the name of the owner is complete. Throws `invalid_request`.
 */
export function refuseWideClaims(issuer: string, claims: Readonly<Record<string, string>>): void {
  const names = identifying[issuer.replace(/\/+$/, '')]
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

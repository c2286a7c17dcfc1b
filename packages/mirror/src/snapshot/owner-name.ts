import { isUsername, limits, reservedOwners } from '@skillstead/protocol'
import { toSlug } from '@skillstead/skill-format'
import type { Upstream } from '../types.ts'

/**
 * Whose the skills of an upstream are that names no owners: the one that the operator filters by, else one that is made
 * of its address: of `https://skills.example.com` the host, of a repository the folder above it, of a folder its name.
 */
export function chooseOwner({ kind, location, settings }: Pick<Upstream, 'kind' | 'location' | 'settings'>): string {
  const [given, ...others] = settings.filters.owners ?? []
  if (given !== undefined && others.length === 0 && isUsername(given)) return given
  const slug = toSlug(readPlace(kind, location)).slice(0, limits.usernameCharactersMax).replace(/-$/, '')
  const owner = slug === '' ? 'mirrored' : slug
  return reservedOwners.has(owner) ? `${owner}-skills` : owner
}

function readPlace(kind: Upstream['kind'], location: string): string {
  if (kind === 'discovery') return URL.canParse(location) ? new URL(location).hostname : location
  const segments = location
    .replace(/^[a-z+]+:\/\/[^/]*/i, '')
    .replace(/^[^/]*@[^/:]+:/, '')
    .replace(/\.git\/?$/, '')
    .split(/[/\\]+/)
    .filter((segment) => segment !== '' && segment !== '.')
  return (kind === 'git' ? segments.at(-2) : segments.at(-1)) ?? segments.at(-1) ?? ''
}

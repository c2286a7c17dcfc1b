import { isUsername, limits, reservedOwners } from '@skillstead/protocol'
import { toSlug } from '@skillstead/skill-format'
import type { Upstream } from '../types.ts'

/**
 * Chooses the owner of an upstream's skills if the upstream names no owner: the only owner in the operator's filters,
 * else a name made from the location: the host of a URL, the folder above a repository, or the name of a folder.
 */
export function chooseOwner({ kind, location, settings }: Pick<Upstream, 'kind' | 'location' | 'settings'>): string {
  const [given, ...others] = settings.filters.owners ?? []
  if (given !== undefined && others.length === 0 && isUsername(given)) return given
  const slug = toSlug(readLocationName(kind, location)).slice(0, limits.usernameCharactersMax).replace(/-$/, '')
  const owner = slug === '' ? 'mirrored' : slug
  return reservedOwners.has(owner) ? `${owner}-skills` : owner
}

function readLocationName(kind: Upstream['kind'], location: string): string {
  if (kind === 'discovery') return URL.canParse(location) ? new URL(location).hostname : location
  const segments = location
    .replace(/^[a-z+]+:\/\/[^/]*/i, '')
    .replace(/^[^/]*@[^/:]+:/, '')
    .replace(/\.git\/?$/, '')
    .split(/[/\\]+/)
    .filter((segment) => segment !== '' && segment !== '.')
  return (kind === 'git' ? segments.at(-2) : segments.at(-1)) ?? segments.at(-1) ?? ''
}

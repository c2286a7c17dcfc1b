import { isSkillName, isUsername, reservedOwners } from '@skillstead/protocol'

/**
 * The page for a path that users type or paste into a browser, and that answers programs in another way: `/OWNER`,
 * `/OWNER/NAME` (also with `@VERSION`), and the paths of git. Undefined for other paths. The page itself reports
 * whether the skill or user exists.
 */
export function toBrowserPage(path: string): string | undefined {
  const [first = '', second, ...more] = path.slice(1).replace(/\/$/, '').split('/')
  if (more.length === 0) return toPage(first, second)
  if (first !== 'git' || second === undefined || more.length > 1) return undefined
  const repository = toRepository(more[0]!)
  if (repository === undefined) return undefined
  return second === 'packs' && isSkillName(repository) ? `/packs/${repository}` : toPage(second, repository)
}

function toPage(owner: string, skill: string | undefined): string | undefined {
  if (owner === 'git') {
    const repository = toRepository(skill ?? '')
    return repository === undefined ? undefined : toPage(repository, undefined)
  }
  if (!isUsername(owner) || reservedOwners.has(owner)) return undefined
  if (skill === undefined) return `/users/${owner}`
  const [, name = '', version] = /^([^@]*)(?:@(\d+\.\d+\.\d+))?$/.exec(skill) ?? []
  if (!isSkillName(name)) return undefined
  return `/skills/${owner}/${name}${version === undefined ? '' : `?version=${version}`}`
}

/** The name of a repository: `pdf` of `pdf.git`. */
function toRepository(segment: string): string | undefined {
  return /^(.+)\.git$/.exec(segment)?.[1]
}

import type { Security } from '@skillstead/protocol'
import { explainFiltered, isNameMatch } from '../filters.ts'
import { isPrivateName, type Run } from '../run.ts'
import type { Release } from '../types.ts'
import { readFolderFields } from './to-release.ts'

/** Whether a skill may be requested, as far as its name decides. */
export function wantsName({ parts, upstream }: Pick<Run, 'parts' | 'upstream'>, owner: string, name: string): boolean {
  const fullName = `${owner}/${name}`
  if (isPrivateName(parts, fullName)) return false
  const { filters, mode, selected } = upstream.settings
  if (mode === 'selected' && !selected.some((pattern) => isNameMatch(pattern, fullName))) return false
  const { owners, names } = filters
  return explainFiltered({ ...(owners && { owners }), ...(names && { names }) }, { owner, name }) === undefined
}

/** Selects the releases that pass all filters which do not need a scan. */
export function keepWanted({ upstream }: Pick<Run, 'upstream'>, releases: readonly Release[]): Release[] {
  const { filters } = upstream.settings
  // Only registries verify owners. Folders, git repositories and discovery indexes do not.
  if (filters.verified && upstream.kind !== 'registry') return []
  return releases.filter((release) => {
    const said = readFolderFields(release.files)
    const { owner, name, keywords = said.keywords, category = said.category, license = said.license } = release
    const size = release.files.reduce((sum, { bytes }) => sum + bytes.length, 0)
    const skill = { owner, name, keywords, size, ...(category && { category }), ...(license && { license }) }
    return explainFiltered(filters, skill) === undefined
  })
}

/** Explains why a version does not pass the filter on the score of this node's scan; undefined if it passes. */
export function explainScan(
  { upstream }: Pick<Run, 'upstream'>,
  { score }: Pick<Security, 'score'>,
): string | undefined {
  const { minSecurityScore } = upstream.settings.filters
  if (minSecurityScore === undefined || score >= minSecurityScore) return undefined
  return `The security score is ${score}. The filter requires at least ${minSecurityScore}.`
}

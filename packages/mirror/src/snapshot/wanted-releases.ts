import type { Security } from '@skillstead/protocol'
import { explainFiltered, isNameMatch } from '../filters.ts'
import { isPrivateName, type Run } from '../run.ts'
import type { Release } from '../types.ts'
import { readFields } from './to-release.ts'

/** Whether a skill may be asked for at all, by what is known before it is read. */
export function wantsName({ parts, upstream }: Pick<Run, 'parts' | 'upstream'>, owner: string, name: string): boolean {
  const fullName = `${owner}/${name}`
  if (isPrivateName(parts, fullName)) return false
  const { filters, mode, selected } = upstream.settings
  if (mode === 'selected' && !selected.some((pattern) => isNameMatch(pattern, fullName))) return false
  const { owners, names } = filters
  return explainFiltered({ ...(owners && { owners }), ...(names && { names }) }, { owner, name }) === undefined
}

/** Those that pass every filter of the operator that can be looked at before the scan. */
export function keepWanted({ upstream }: Pick<Run, 'upstream'>, releases: readonly Release[]): Release[] {
  const { filters } = upstream.settings
  // Only what a registry verified is: folders and the like have nobody who could.
  if (filters.verified && upstream.kind !== 'registry') return []
  return releases.filter((release) => {
    const said = readFields(release.files)
    const { owner, name, keywords = said.keywords, category = said.category, license = said.license } = release
    const size = release.files.reduce((sum, { bytes }) => sum + bytes.length, 0)
    const skill = { owner, name, keywords, size, ...(category && { category }), ...(license && { license }) }
    return explainFiltered(filters, skill) === undefined
  })
}

/** Why a version is not wanted by this node's own scan, whatever its source says; undefined where it is. */
export function explainScan(
  { upstream }: Pick<Run, 'upstream'>,
  { score }: Pick<Security, 'score'>,
): string | undefined {
  const { minSecurityScore } = upstream.settings.filters
  if (minSecurityScore === undefined || score >= minSecurityScore) return undefined
  return `Its security score is ${score}, and ${minSecurityScore} is wanted at least.`
}

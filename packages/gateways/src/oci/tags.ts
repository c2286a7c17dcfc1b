import { isOfferedVersion, type SkillDetails } from '@skillstead/protocol'
import { OciError } from './oci-error.ts'

/** The tags of a skill in lexical order: its versions that are offered, and `latest`. */
export function listTags({ versions, latestVersion }: Pick<SkillDetails, 'versions' | 'latestVersion'>): string[] {
  const tags = versions.filter(isOfferedVersion).map(({ version }) => version)
  return (tags.includes(latestVersion) ? [...tags, 'latest'] : tags).toSorted()
}

/**
 * The part of a list of tags that `n` and `last` request, and the query for the next part, if there is one
 * (distribution specification, content discovery).
 */
export function selectTags(tags: readonly string[], query: URLSearchParams): { tags: string[]; next?: string } {
  const last = query.get('last')
  const rest = last === null ? [...tags] : tags.filter((tag) => tag > last)
  const n = query.get('n')
  if (n === null) return { tags: rest }
  if (!/^\d{1,9}$/.test(n)) {
    throw new OciError('PAGINATION_NUMBER_INVALID', 'invalid_request', 'The parameter n must be a whole number.')
  }
  const count = Number(n)
  const selected = rest.slice(0, count)
  if (count === 0 || rest.length <= count) return { tags: selected }
  return { tags: selected, next: new URLSearchParams({ n, last: selected.at(-1)! }).toString() }
}

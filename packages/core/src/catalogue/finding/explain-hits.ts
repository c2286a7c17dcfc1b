import { setImmediate } from 'node:timers/promises'
import type { SearchMatch as ShownMatch } from '@skillstead/protocol'
import { findGitProblems } from '@skillstead/skill-format/archives'
import type { SearchMatch } from '../../search/explanation.ts'
import { PassageFinder, type TermValues } from '../../search/passage.ts'
import { isSliceOver, nextSlice } from '../../kernel/time-slices.ts'
import { selectVisible } from '../../search/database/visible-skills.ts'
import { openBlob, skipUnavailable } from '../../storage/read-blobs.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { decodeSkillMd } from '../sketches/sketch.ts'
import { readFileRowsOfMany } from '../versions/version-files.ts'

/** A search hit in the form that the caller sees. */
export interface ShownHit {
  readonly num: number
  /** The version whose fields are shown. */
  readonly version: string
  readonly match: SearchMatch
}

/**
 * Adds to each match the passage of the shown version's SKILL.md that answers the query best. Returns matches by skill
 * number. There is no passage for a skill that the viewer may no longer see, for a quarantined version, and for content
 * that was removed or is unavailable.
 */
export async function explainHits(
  context: StorageContext,
  hits: readonly ShownHit[],
  { values, viewer }: { values: TermValues; viewer: string | null },
): Promise<Map<number, ShownMatch>> {
  const explained = new Map<number, ShownMatch>(hits.map(({ num, match }) => [num, match]))
  if (values.size === 0 || hits.length === 0) return explained
  const skills = await readDigests(context, hits, viewer)
  if (skills.size === 0) return explained
  const blobs = await context.database.read
    .selectFrom('blobs')
    .selectAll()
    .where('digest', 'in', [...new Set(skills.values())])
    .execute()
  const finder = new PassageFinder(values)
  for (const blob of blobs) {
    const bytes = await openBlob(context.database, blob).catch(skipUnavailable)
    const passage = bytes && finder.find(decodeSkillMd(bytes))
    // Let other requests run: a page may have a hundred documents, and each takes about a millisecond.
    await setImmediate()
    if (!passage) continue
    const { text, highlights, terms } = passage
    for (const [num, digest] of skills) {
      if (digest !== blob.digest) continue
      const match = explained.get(num)!
      const allTerms = [...new Set([...match.terms, ...terms])]
      explained.set(num, { ...match, fields: [...match.fields, 'body'], terms: allTerms, passage: text, highlights })
    }
  }
  return explained
}

/** The digests of the SKILL.md files of the shown versions, by skill number. */
async function readDigests({ database }: StorageContext, hits: readonly ShownHit[], viewer: string | null) {
  const shown = new Map(hits.map(({ num, version }) => [num, version]))
  const found = await selectVisible(database, viewer, { includeStubs: false })
    .innerJoin('versions', (join) =>
      join.onRef('versions.skill_id', '=', 'skills.id').onRef('versions.version', '=', 'skills.latest_version'),
    )
    .select(['skills.num', 'skills.latest_version as version', 'versions.id'])
    .where('skills.num', 'in', [...shown.keys()])
    .execute()
  const versions = found.filter(({ num, version }) => shown.get(num) === version)
  const idsOfVersions = versions.map(({ id }) => id)
  const files = await readFileRowsOfMany(database.read, idsOfVersions)
  const digests = new Map<number, string>()
  for (const { num, id } of versions) {
    if (isSliceOver()) await nextSlice()
    const list = files.get(id) ?? []
    const isQuarantined = findGitProblems(list.map(({ path }) => path)).length > 0
    const document = isQuarantined ? undefined : list.find(({ path }) => path === 'SKILL.md')
    if (document) digests.set(num, document.digest)
  }
  return digests
}

import { setImmediate } from 'node:timers/promises'
import type { SearchMatch as ShownMatch } from '@skillstead/protocol'
import { findGitProblems } from '@skillstead/skill-format/archives'
import type { SearchMatch } from '../search/explanation.ts'
import { PassageFinder, type TermValues } from '../search/passage.ts'
import { unpackBlob } from '../storage/blobs.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { decodeSkillMd } from './sketch.ts'
import { readFilesOfMany } from './version-files.ts'

/**
 * Adds the passage of each skill's SKILL.md that answers the query best, by skill number. It is from the latest version,
 * as the other fields of a hit; without one if that version is quarantined or its content was removed. Does not check
 * permissions.
 */
export async function explainHits(
  context: StorageContext,
  matches: ReadonlyMap<number, SearchMatch>,
  values: TermValues,
): Promise<Map<number, ShownMatch>> {
  const explained = new Map<number, ShownMatch>(matches)
  if (values.size === 0 || matches.size === 0) return explained
  const skills = await readDigests(context, [...matches.keys()])
  if (skills.size === 0) return explained
  const blobs = await context.database.read
    .selectFrom('blobs')
    .selectAll()
    .where('digest', 'in', [...new Set(skills.values())])
    .execute()
  const finder = new PassageFinder(values)
  for (const blob of blobs) {
    const passage = finder.find(decodeSkillMd(await unpackBlob(blob)))
    // A page may have a hundred documents, and each takes about a millisecond.
    await setImmediate()
    if (!passage) continue
    const { text, highlights, terms } = passage
    for (const [num, digest] of skills) {
      const match = matches.get(num)!
      if (digest !== blob.digest) continue
      const allTerms = [...new Set([...match.terms, ...terms])]
      explained.set(num, { ...match, fields: [...match.fields, 'body'], terms: allTerms, passage: text, highlights })
    }
  }
  return explained
}

/** The digests of the SKILL.md files of the latest versions, by skill number. */
async function readDigests({ database }: StorageContext, nums: readonly number[]): Promise<Map<number, string>> {
  const versions = await database.read
    .selectFrom('skills')
    .innerJoin('versions', (join) =>
      join.onRef('versions.skill_id', '=', 'skills.id').onRef('versions.version', '=', 'skills.latest_version'),
    )
    .select(['skills.num', 'versions.id'])
    .where('skills.num', 'in', nums)
    .execute()
  const idsOfVersions = versions.map(({ id }) => id)
  const files = await readFilesOfMany(database.read, idsOfVersions)
  return new Map(
    versions.flatMap(({ num, id }) => {
      const list = files.get(id) ?? []
      const isQuarantined = findGitProblems(list.map(({ path }) => path)).length > 0
      const document = isQuarantined ? undefined : list.find(({ path }) => path === 'SKILL.md')
      return document ? [[num, document.digest] as const] : []
    }),
  )
}

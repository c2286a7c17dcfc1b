import { setImmediate } from 'node:timers/promises'
import type { CatalogueContext } from './catalogue-context.ts'
import type { Candidate } from './copy-candidates.ts'
import { findSkillMd, readSources } from './read-body.ts'
import { comparerWith, type Comparison } from './similarity.ts'
import { readWords } from './sketch.ts'

/** A version that was read and compared. */
export interface Match extends Candidate, Comparison {
  /** Of its SKILL.md, which is read anew where it is shown: many may be long. */
  readonly digest: string
}

/** So many are read however long they are, and more only while all together are no longer than this. */
const candidatesMin = 64
const readBytesMax = 2 * 1024 * 1024

/** Reads candidates and compares them with a text, the most similar first; of each skill the version that is most. */
export async function compareCandidates(
  context: CatalogueContext,
  words: Int32Array,
  candidates: readonly Candidate[],
): Promise<Match[]> {
  const sources = await readSources(
    context,
    candidates.map(({ versionId }) => versionId),
  )
  const compare = comparerWith(words)
  const read = new Map<string, Comparison>()
  const best = new Map<string, Match>()
  let left = readBytesMax
  for (const candidate of candidates) {
    const { digest, size } = sources.get(candidate.versionId)!
    let compared = read.get(digest)
    if (!compared) {
      left -= size
      if (left < 0 && read.size >= candidatesMin) break
      const skillMd = await findSkillMd(context, digest)
      if (skillMd === undefined) continue
      read.set(digest, (compared = compare(readWords(skillMd))))
      // Long ones take some ten milliseconds each.
      await setImmediate()
    }
    const match = { ...candidate, ...compared, digest }
    const before = best.get(candidate.skill.id)
    if (!before || isBetter(match, before)) best.set(candidate.skill.id, match)
  }
  return [...best.values()].toSorted(
    (a, b) => b.similarity - a.similarity || b.resemblance - a.resemblance || a.skill.num - b.skill.num,
  )
}

function isBetter(match: Match, before: Match): boolean {
  if (match.similarity !== before.similarity) return match.similarity > before.similarity
  return match.version === match.skill.latest_version
}

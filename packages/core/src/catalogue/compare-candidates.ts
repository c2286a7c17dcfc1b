import { setImmediate } from 'node:timers/promises'
import type { CatalogueContext } from './catalogue-context.ts'
import type { Candidate } from './copy-candidates.ts'
import { findSkillMd, readSources } from './read-body.ts'
import { comparerWith, type Comparison } from './similarity.ts'
import { readWords } from './sketch.ts'

/** A version that was read and compared. */
export interface Match extends Candidate, Comparison {
  /**
   * Digest of the version's SKILL.md. It is read again when shown, since many long documents would take much memory.
   */
  readonly digest: string
}

/**
 * The minimum number of candidates to read. More are read only while their total length stays under the limit below.
 */
const candidatesMin = 64
const readBytesMax = 2 * 1024 * 1024

/** Reads candidates and compares them with a text, most similar first. Of each skill, only the most similar version. */
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
      // A long document takes about 10 ms.
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

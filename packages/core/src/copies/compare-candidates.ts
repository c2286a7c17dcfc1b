import { setImmediate } from 'node:timers/promises'
import type { Context } from '../context.ts'
import type { Candidate } from './candidates.ts'
import { readDigests, readDocument, type ComparedDocument } from './read-body.ts'
import { comparerWith, type Comparison } from './similarity.ts'

/** A version that was read and compared. */
export interface Match extends Candidate, Comparison {
  readonly document: ComparedDocument
}

/** Reads candidates and compares them with a text, the most similar first; of each skill the version that is most. */
export async function compareCandidates(
  context: Context,
  words: Int32Array,
  candidates: readonly Candidate[],
): Promise<Match[]> {
  const digests = await readDigests(
    context,
    candidates.map(({ versionId }) => versionId),
  )
  const compare = comparerWith(words)
  const read = new Map<string, ComparedDocument & Comparison>()
  const best = new Map<string, Match>()
  for (const candidate of candidates) {
    const digest = digests.get(candidate.versionId)!
    let compared = read.get(digest)
    if (!compared) {
      const document = await readDocument(context, digest)
      read.set(digest, (compared = { ...document, ...compare(document.words) }))
      // Long ones take some ten milliseconds each.
      await setImmediate()
    }
    const { similarity, kind } = compared
    const match = { ...candidate, document: compared, similarity, kind }
    const before = best.get(candidate.skill.id)
    if (!before || isBetter(match, before)) best.set(candidate.skill.id, match)
  }
  return [...best.values()].toSorted(
    (a, b) => b.similarity - a.similarity || kindOrder(a) - kindOrder(b) || a.skill.num - b.skill.num,
  )
}

function isBetter(match: Match, before: Match): boolean {
  if (match.similarity !== before.similarity) return match.similarity > before.similarity
  return match.version === match.skill.latest_version
}

function kindOrder({ kind }: Match): number {
  return ['exact', 'near', 'partial'].indexOf(kind)
}

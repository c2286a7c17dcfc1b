import { setImmediate } from 'node:timers/promises'
import { type Similarity, type SimilarityMatch, toTimestamp } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { getSkill } from './find-skill.ts'
import { findCandidates, type ComparedSkill } from './copy-candidates.ts'
import { compareCandidates, type Match } from './compare-candidates.ts'
import { findEarlier } from './first-published.ts'
import { isKin, readLineage } from './lineage.ts'
import { findPassages, placeWords } from './copy-passages.ts'
import { findSkillMd, readLatest } from './read-body.ts'
import { shownSimilarity } from './similarity.ts'
import { sketchWords } from './sketch.ts'

const matchesMax = 20
const comparedMax = 256
/** Estimates from sketches are off by up to this factor where two small bodies share little. */
const estimateMin = shownSimilarity / 3

/**
 * GET /skills/<name>/similarity: compares the latest version with all versions of other skills that the caller may see.
 */
export async function showSimilarity(
  context: CatalogueContext,
  input: { name: string },
  caller: Caller,
): Promise<Similarity> {
  const skill = await getSkill(context, input.name, caller)
  const document = await readLatest(context, skill)
  const sketch = sketchWords(document.words)
  const keep = ({ id }: ComparedSkill) => id !== skill.id
  const candidates = await findCandidates(context, { sketch, caller, keep, estimateMin, max: comparedMax })
  const matches = (await compareCandidates(context, document.words, candidates))
    .filter(({ similarity }) => similarity >= shownSimilarity)
    .slice(0, matchesMax)
  const others = matches.map((match) => match.skill)
  const earlier = await findEarlier(context, sketch, [skill.num], others)
  const lineage = await readLineage(context.database.read, [skill, ...others])
  const words = placeWords(document.skillMd)
  const shown: SimilarityMatch[] = []
  for (const match of matches) {
    const related = isKin(lineage, skill.id, match.skill.id)
      ? 'fork'
      : match.skill.owner_id === skill.owner_id
        ? 'same-owner'
        : null
    const passages = findPassages(words, placeWords((await findSkillMd(context, match.digest)) ?? ''))
    shown.push({ ...toMatch(match), publishedFirst: earlier.has(match.skill.num), related, passages })
    // A long document takes about 10 ms.
    await setImmediate()
  }
  const compared = { id: skill.id, fullName: skill.full_name, version: skill.latest_version }
  return { skill: compared, scannedAt: toTimestamp(context.clock.now()), matches: shown }
}

function toMatch({ skill, version, similarity, kind }: Match) {
  return { skill: { id: skill.id, fullName: skill.full_name, version }, similarity, kind }
}

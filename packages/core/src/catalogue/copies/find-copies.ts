import { setImmediate } from 'node:timers/promises'
import { type SimilarityMatch, toTimestamp, type Warning } from '@skillstead/protocol'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { UserCaller } from '../../kernel/caller.ts'
import type { Operation } from '../../kernel/operation-input.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import {
  compareCandidates,
  type ComparedSkill,
  findCandidates,
  findComparedSkill,
  findSkillMd,
  type Match,
  readLatestSkillMd,
} from './copy-candidates.ts'
import { getSkill } from '../skills/find-skill.ts'
import { isKin, readLineage } from './lineage.ts'
import {
  copySimilarity,
  findSharedPassages,
  placeWords,
  readCompared,
  shownSimilarity,
} from '../sketches/similarity.ts'
import { type Sketch, sketchWords } from '../sketches/sketch.ts'

const similarityMatchesMax = 20
const similarityCandidatesMax = 256
/** Minimum estimate for a comparison: estimates may be three times too low for small bodies with little shared text. */
const reportedEstimateMin = shownSimilarity / 3

/** GET /skills/<name>/similarity: compares the latest version with the other skills that the caller may see. */
export const showSimilarity: Operation<'getSimilarity', CatalogueContext> = async (context, input, caller) => {
  const skill = await getSkill(context, input.name, caller)
  const document = await readLatestSkillMd(context, skill)
  const sketch = sketchWords(document.words)
  const keep = ({ id }: ComparedSkill) => id !== skill.id
  const candidates = await findCandidates(context, {
    sketch,
    caller,
    keep,
    estimateMin: reportedEstimateMin,
    max: similarityCandidatesMax,
  })
  const matches = (await compareCandidates(context, document, candidates))
    .filter(({ similarity }) => similarity >= shownSimilarity)
    .slice(0, similarityMatchesMax)
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
    const passages = findSharedPassages(words, placeWords((await findSkillMd(context, match.digest)) ?? ''))
    shown.push({ ...toMatchedSkill(match), publishedFirst: earlier.has(match.skill.num), related, passages })
    // Comparing a long document takes about 10 ms: let other requests run.
    await setImmediate()
  }
  const compared = { id: skill.id, fullName: skill.full_name, version: skill.latest_version }
  return { skill: compared, scannedAt: toTimestamp(context.clock.now()), matches: shown }
}

function toMatchedSkill({ skill, version, similarity, kind }: Match) {
  return { skill: { id: skill.id, fullName: skill.full_name, version }, similarity, kind }
}

/** Maximum number of candidates that a publish reads: reading one candidate costs as much as finding all candidates. */
const warnedMax = 2
/** Candidates with lower estimates are not read; estimates are imprecise. */
const warnedEstimateMin = 0.25
/** The maximum number of compared skills that belong to the owner or are fork sources. */
const ownMax = 500

interface Publishing {
  readonly ownerId: string
  readonly fullName: string
  readonly skillMd: string
  readonly sketch: Sketch
}

/**
 * Warns if another user's public skill published most of a text earlier and is not a fork source. Names the most
 * similar skill that the publisher may see.
 */
export async function warnOfCopies(context: CatalogueContext, publishing: Publishing, user: UserCaller) {
  const { ownerId, sketch, skillMd } = publishing
  const keep = ({ visibility, owner_id }: ComparedSkill) =>
    visibility === 'public' && owner_id !== ownerId && owner_id !== user.userId
  const query = { sketch, caller: user, keep, estimateMin: warnedEstimateMin, max: warnedMax }
  const candidates = await findCandidates(context, query)
  if (candidates.length === 0) return []
  const matches = await compareCandidates(context, readCompared(skillMd), candidates)
  const copies = matches.filter(({ similarity }) => similarity >= copySimilarity)
  const original = await findOriginal(context, publishing, copies)
  return original ? [toCopyWarning(original)] : []
}

async function findOriginal(
  context: CatalogueContext,
  { sketch, fullName, ownerId }: Publishing,
  copies: readonly Match[],
): Promise<Match | undefined> {
  if (copies.length === 0) return undefined
  const own = await findComparedSkill(context, fullName)
  const others = copies.map(({ skill }) => skill)
  // A skill that does not exist yet has no fork sources.
  const lineage = own ? await readLineage(context.database.read, [own, ...others]) : new Map()
  const ancestors = own ? [...lineage.get(own.id)!] : []
  const earlier = await findEarlier(context, sketch, await readOwnNums(context, ownerId, ancestors), others)
  return copies.find(({ skill }) => earlier.has(skill.num) && !(own && isKin(lineage, own.id, skill.id)))
}

/** The numbers of the skills whose text does not count as copied: the owner's skills and the skill's fork sources. */
async function readOwnNums(context: StorageContext, ownerId: string, ancestorIds: readonly string[]) {
  const rows = await context.database.read
    .selectFrom('skills')
    .select('num')
    .where((eb) =>
      ancestorIds.length === 0
        ? eb('owner_id', '=', ownerId)
        : eb.or([eb('owner_id', '=', ownerId), eb('id', 'in', ancestorIds)]),
    )
    .orderBy('num')
    .limit(ownMax)
    .execute()
  return rows.map(({ num }) => num)
}

function toCopyWarning({ skill, version, similarity, kind }: Match): Warning {
  const share = `${Math.round(similarity * 100)} % of the shorter of the two`
  const opening =
    kind === 'exact' ? 'The text is word for word the same as that of' : `The text has ${share} in common with`
  const advice = 'If you copied it, name the source and comply with its license; a fork does both.'
  return {
    code: 'resembles',
    message: `${opening} ${skill.full_name}@${version}, which was published first. ${advice}`,
  }
}

/** The time and the number of the version in which a skill first contained a shared text. */
interface Since {
  readonly publishedAt: number
  readonly num: number
}

/** The skills of `others` that published at least half of a shared text earlier than the skills in `own`. */
async function findEarlier(
  context: CatalogueContext,
  sketch: Sketch,
  own: readonly number[],
  others: readonly Pick<ComparedSkill, 'num'>[],
): Promise<Set<number>> {
  const nums = others.map(({ num }) => num)
  if (own.length === 0) return new Set(nums)
  const rows = await context.copies.findHolders(sketch.lookedUp, [...own, ...nums])
  const bySkill = Map.groupBy(rows, ({ skill_num }) => skill_num)
  const ownSince = new Map<number, number>()
  for (const { shingle, sketch_num } of own.flatMap((num) => bySkill.get(num) ?? []))
    ownSince.set(shingle, Math.min(sketch_num, ownSince.get(shingle) ?? Infinity))
  const since = nums.map((num) => {
    const shared = bySkill.get(num) ?? []
    const mine = shared.map(({ shingle }) => ownSince.get(shingle) ?? Infinity)
    return { num, theirs: middleOf(shared.map(({ sketch_num }) => sketch_num)), mine: middleOf(mine) }
  })
  const times = await readSketchTimes(
    context,
    since.flatMap(({ theirs, mine }) => [theirs, mine]),
  )
  return new Set(since.filter(({ theirs, mine }) => isEarlier(times, theirs, mine)).map(({ num }) => num))
}

/** The median of some numbers; Infinity for an empty list. */
function middleOf(nums: readonly number[]): number {
  return nums.toSorted((a, b) => a - b)[nums.length >> 1] ?? Infinity
}

async function readSketchTimes(context: StorageContext, nums: readonly number[]): Promise<Map<number, Since>> {
  const known = [...new Set(nums)].filter((num) => num !== Infinity)
  if (known.length === 0) return new Map()
  const rows = await context.database.read
    .selectFrom('version_sketches')
    .innerJoin('versions', 'versions.id', 'version_sketches.version_id')
    .select(['version_sketches.num', 'versions.published_at as publishedAt'])
    .where('version_sketches.num', 'in', known)
    .execute()
  return new Map(rows.map((row) => [row.num, row]))
}

function isEarlier(times: ReadonlyMap<number, Since>, one: number, other: number): boolean {
  const [a, b] = [times.get(one), times.get(other)]
  if (!a || !b) return a !== undefined
  return a.publishedAt === b.publishedAt ? a.num < b.num : a.publishedAt < b.publishedAt
}

import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { keepSeen } from './visibility.ts'
import type { SharedGroup } from '../storage/shared-shingles.ts'
import type { SkillRow } from '../storage/tables.ts'
import { toKeptScale, toLookupScale, type Sketch } from './sketch.ts'

const skillColumns = [
  'num',
  'id',
  'owner_id',
  'owner',
  'full_name',
  'visibility',
  'state',
  'latest_version',
  'forked_from',
] as const
/** The columns of a skill that comparisons need. */
export type ComparedSkill = Pick<SkillRow, (typeof skillColumns)[number]>

/** A version that may share much text with a given one, judged by sketches before its document is read. */
export interface Candidate {
  readonly skill: ComparedSkill
  readonly versionId: string
  readonly version: string
  /** Similarity estimated from the two sketches. Imprecise if they share little. */
  readonly estimate: number
}

export interface CandidateQuery {
  readonly sketch: Sketch
  readonly caller: Caller
  /** The maximum number of candidates, and their minimum estimate. */
  readonly max: number
  readonly estimateMin: number
  /** Whether a skill that the caller may see should be compared. */
  keep(skill: ComparedSkill): boolean
}

/** The share of a skill's common shingles that a version must have to count as the version that introduced them. */
const grownShare = 0.8

interface Sharer {
  readonly num: number
  shared: number
  readonly groups: SharedGroup[]
}

/**
 * Versions that may resemble a text, most similar by sketch first: of each skill its latest version and the version
 * that introduced the shared text. Takes a few queries for any number of skills. Skills that the caller may not see are
 * dropped before any of their content is read.
 */
export async function findCandidates(context: CatalogueContext, query: CandidateQuery): Promise<Candidate[]> {
  const sharers = gather(await context.copies.findShared(query.sketch.lookedUp), query)
  if (sharers.size === 0) return []
  const skills = await readSkills(context, [...sharers.keys()], query)
  if (skills.length === 0) return []
  const versions = await readVersions(context, skills, sharers)
  const candidates: Candidate[] = []
  const byId = new Map(skills.map((skill) => [skill.id, skill]))
  for (const { skill_id, shingles, ...version } of versions) {
    const skill = byId.get(skill_id)!
    const estimate = estimateSimilarity(query.sketch, shingles, sharers.get(skill.num)!.shared)
    if (estimate >= query.estimateMin) candidates.push({ skill, ...version, estimate })
  }
  return candidates.toSorted((a, b) => b.estimate - a.estimate).slice(0, query.max)
}

/** The columns of a skill that comparing needs. */
export async function findComparedSkill(
  context: CatalogueContext,
  fullName: string,
): Promise<ComparedSkill | undefined> {
  const { read } = context.database
  return read.selectFrom('skills').select(skillColumns).where('full_name', '=', fullName).executeTakeFirst()
}

function gather(groups: readonly SharedGroup[], { sketch, estimateMin }: CandidateQuery): Map<number, Sharer> {
  const sharers = new Map<number, Sharer>()
  for (const group of groups) {
    const sharer = sharers.get(group.skill_num) ?? { num: group.skill_num, shared: 0, groups: [] }
    sharer.shared += group.shared
    sharer.groups.push(group)
    sharers.set(group.skill_num, sharer)
  }
  const telling = [...sharers.values()].filter(
    (sharer) => estimateSimilarity(sketch, findGrown(sharer).shingles, sharer.shared) >= estimateMin,
  )
  return new Map(telling.map((sharer) => [sharer.num, sharer]))
}

async function readSkills(context: CatalogueContext, nums: number[], { caller, keep }: CandidateQuery) {
  const rows = await context.database.read
    .selectFrom('skills')
    .select(skillColumns)
    .where('num', 'in', nums)
    .where('state', '=', 'live')
    .where('latest_version', '!=', '')
    .execute()
  return keepSeen(context, rows.filter(keep), caller)
}

async function readVersions(
  context: CatalogueContext,
  skills: readonly ComparedSkill[],
  sharers: ReadonlyMap<number, Sharer>,
) {
  const grown = skills.map(({ num }) => findGrown(sharers.get(num)!).sketch_num)
  const sketched = context.database.read
    .selectFrom('versions')
    .innerJoin('version_sketches', 'version_sketches.version_id', 'versions.id')
    .select(['versions.id as versionId', 'versions.version', 'versions.skill_id', 'version_sketches.shingles'])
  const latest = await sketched
    .innerJoin('skills', (join) =>
      join.onRef('skills.id', '=', 'versions.skill_id').onRef('skills.latest_version', '=', 'versions.version'),
    )
    .where(
      'skills.id',
      'in',
      skills.map(({ id }) => id),
    )
    .execute()
  const older = await sketched.where('version_sketches.num', 'in', grown).execute()
  const isLatest = new Set(latest.map(({ versionId }) => versionId))
  return [...latest, ...older.filter(({ versionId }) => !isLatest.has(versionId))]
}

/** The version by which nearly all of the skill's shared shingles had been introduced. */
function findGrown({ groups, shared }: Sharer): SharedGroup {
  let sum = 0
  const inOrder = groups.toSorted((a, b) => a.sketch_num - b.sketch_num)
  return inOrder.find((group) => (sum += group.shared) >= shared * grownShare) ?? inOrder.at(-1)!
}

function estimateSimilarity({ shingleCount }: Sketch, otherCount: number, shared: number): number {
  const scale = Math.max(toLookupScale(shingleCount), toKeptScale(otherCount))
  return Math.min(1, (shared * scale) / Math.max(1, Math.min(shingleCount, otherCount)))
}

import { setImmediate } from 'node:timers/promises'
import { RegistryError } from '@skillstead/protocol'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { Caller } from '../../kernel/caller.ts'
import { findBlob, getBlob, skipUnavailable } from '../../storage/read-blobs.ts'
import type { SharedGroup } from '../../storage/shared-shingles.ts'
import type { SkillRow } from '../../storage/tables.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { getVersion } from '../skills/read-skill.ts'
import { type ComparedBody, comparerWith, type Comparison, readCompared } from '../sketches/similarity.ts'
import { decodeSkillMd, type Sketch, toKeptScale, toLookupScale } from '../sketches/sketch.ts'
import { keepSeen } from '../../visibility/decisions.ts'

const comparedColumns = [
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
export type ComparedSkill = Pick<SkillRow, (typeof comparedColumns)[number]>

/** A version that may share much text with a given version, judged by sketches before its document is read. */
interface Candidate {
  readonly skill: ComparedSkill
  readonly versionId: string
  readonly version: string
  /** Similarity estimated from the two sketches. Imprecise if the sketches share little. */
  readonly estimate: number
}

interface CandidateQuery {
  readonly sketch: Sketch
  readonly caller: Caller
  /** The maximum number of candidates, and the minimum of their estimated similarity. */
  readonly max: number
  readonly estimateMin: number
  /** Whether a skill that the caller may see should be compared. */
  keep(skill: ComparedSkill): boolean
}

/** The first version with this fraction of the skill's shared shingles counts as the origin of the shared text. */
const grownShare = 0.8

interface Sharer {
  readonly num: number
  shared: number
  readonly groups: SharedGroup[]
}

/**
 * Versions that may resemble a text, most similar first, estimated from sketches: of each skill the latest version and
 * the version that introduced the shared text. The number of queries is constant. Skills that the caller may not see
 * are dropped before their content is read.
 */
export async function findCandidates(context: CatalogueContext, query: CandidateQuery): Promise<Candidate[]> {
  const sharers = gatherSharers(await context.copies.findShared(query.sketch.lookedUp), query)
  if (sharers.size === 0) return []
  const skills = await readSharerSkills(context, [...sharers.keys()], query)
  if (skills.length === 0) return []
  const versions = await readSketchedVersions(context, skills, sharers)
  const candidates: Candidate[] = []
  const byId = new Map(skills.map((skill) => [skill.id, skill]))
  for (const { skill_id, shingles, ...version } of versions) {
    const skill = byId.get(skill_id)!
    const estimate = estimateSimilarity(query.sketch, shingles, sharers.get(skill.num)!.shared)
    if (estimate >= query.estimateMin) candidates.push({ skill, ...version, estimate })
  }
  return candidates.toSorted((a, b) => b.estimate - a.estimate).slice(0, query.max)
}

export async function findComparedSkill(context: StorageContext, fullName: string) {
  const { read } = context.database
  return read.selectFrom('skills').select(comparedColumns).where('full_name', '=', fullName).executeTakeFirst()
}

function gatherSharers(groups: readonly SharedGroup[], { sketch, estimateMin }: CandidateQuery): Map<number, Sharer> {
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

async function readSharerSkills(context: StorageContext, nums: number[], { caller, keep }: CandidateQuery) {
  const rows = await context.database.read
    .selectFrom('skills')
    .select(comparedColumns)
    .where('num', 'in', nums)
    .where('state', '=', 'live')
    .where('latest_version', '!=', '')
    .execute()
  return keepSeen(context, rows.filter(keep), caller)
}

async function readSketchedVersions(
  context: StorageContext,
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

/** The version by which the skill had introduced nearly all of its shared shingles. */
function findGrown({ groups, shared }: Sharer): SharedGroup {
  let sum = 0
  const inOrder = groups.toSorted((a, b) => a.sketch_num - b.sketch_num)
  return inOrder.find((group) => (sum += group.shared) >= shared * grownShare) ?? inOrder.at(-1)!
}

function estimateSimilarity({ shingleCount }: Sketch, otherCount: number, shared: number): number {
  const scale = Math.max(toLookupScale(shingleCount), toKeptScale(otherCount))
  return Math.min(1, (shared * scale) / Math.max(1, Math.min(shingleCount, otherCount)))
}

export interface Match extends Candidate, Comparison {
  /** Digest of the version's SKILL.md. The document is read again for the response, to save memory. */
  readonly digest: string
}

/** Minimum number of candidates to read; more only while their total size is below `candidateBytesMax`. */
const candidatesMin = 64
const candidateBytesMax = 2 * 1024 * 1024

/** Reads candidates and compares them with a text. Returns the most similar version of each skill, best match first. */
export async function compareCandidates(context: StorageContext, body: ComparedBody, candidates: readonly Candidate[]) {
  const sources = await readSkillMdRows(
    context,
    candidates.map(({ versionId }) => versionId),
  )
  const compare = comparerWith(body)
  const read = new Map<string, Comparison>()
  const best = new Map<string, Match>()
  let left = candidateBytesMax
  for (const candidate of candidates) {
    const { digest, size } = sources.get(candidate.versionId)!
    let compared = read.get(digest)
    if (!compared) {
      left -= size
      if (left < 0 && read.size >= candidatesMin) break
      const skillMd = await findSkillMd(context, digest).catch(skipUnavailable)
      if (skillMd === undefined) continue
      read.set(digest, (compared = compare(readCompared(skillMd))))
      // Comparing a long document takes about 10 ms: let other requests run.
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

/** The part of a SKILL.md that is compared. */
interface ComparedDocument extends ComparedBody {
  readonly skillMd: string
}

/** The latest version's SKILL.md. Throws `not_found` if the skill has no latest version. */
export async function readLatestSkillMd(context: StorageContext, skill: SkillRow): Promise<ComparedDocument> {
  if (skill.latest_version === '') throw new RegistryError('not_found', `${skill.full_name} has no version to compare.`)
  const { id } = await getVersion(context, skill, skill.latest_version)
  const sources = await readSkillMdRows(context, [id])
  return readComparedDocument(context, sources.get(id)!.digest)
}

/** The SKILL.md of versions, by version id. */
export async function readSkillMdRows(context: StorageContext, versionIds: readonly string[]) {
  if (versionIds.length === 0) return new Map()
  const rows = await context.database.read
    .selectFrom('version_files')
    .select(['version_id', 'digest', 'size'])
    .where('version_id', 'in', versionIds)
    .where('path', '=', 'SKILL.md')
    .execute()
  return new Map(rows.map(({ version_id, ...source }) => [version_id, source]))
}

async function readComparedDocument(context: StorageContext, digest: string): Promise<ComparedDocument> {
  const skillMd = decodeSkillMd(await getBlob(context.database, digest))
  return { skillMd, ...readCompared(skillMd) }
}

/** The SKILL.md with a digest; undefined if its bytes are missing or damaged, which `doctor` reports. */
export async function findSkillMd(context: StorageContext, digest: string): Promise<string | undefined> {
  try {
    const bytes = await findBlob(context.database, digest)
    return bytes && decodeSkillMd(bytes)
  } catch (error) {
    if (isDecompressionError(error)) return undefined
    throw error
  }
}

/** Whether decompression failed, as opposed to the database being busy. */
function isDecompressionError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}

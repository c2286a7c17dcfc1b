import {
  differenceInterval,
  type EvaluationSummary,
  type PassCounts,
  type RateInterval,
  wilsonInterval,
} from '@skillstead/protocol'
import { offeredVersion } from '../catalogue/versions/recalls.ts'
import { putEvaluationSummary } from '../catalogue/versions/version-evaluations.ts'
import { readSshKey } from '../kernel/ssh-signature.ts'
import { parseJson, type VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/**
 * Maximum number of runs of a result that narrow an interval: a result may state a million runs, which no one can
 * check.
 */
const runsPerVoiceMax = 100
/**
 * Maximum number of runs per case that narrow an interval: repeated runs of a case are weaker evidence than runs of
 * different cases.
 */
const runsPerCaseMax = 5
/** Maximum number of results of a version that count: the last posted results. */
const voicesMax = 1000
const modelsShownMax = 10
const signersShownMax = 10
/**
 * Number of users who must have measured two versions for a comparison by all users. With fewer, only results of users
 * who may publish the skill are compared.
 */
const comparedVoicesMin = 3
/**
 * Maximum number of lower versions that are candidates for a comparison, and of higher versions that are compared again
 * after a change.
 */
const candidatesMax = 5

type Evaluated = Pick<VersionRow, 'id' | 'skill_id' | 'sort_key'>

/**
 * Updates the summary of a version after the author `authorId` changed a result for it. Also updates the summaries of
 * the next higher versions that this author measured with one of the models, since those versions may be compared with
 * `version`.
 */
export async function updateSummaries(
  trx: WriteTransaction,
  version: Evaluated,
  { authorId, models }: { readonly authorId: string; readonly models: readonly string[] },
): Promise<void> {
  await updateSummary(trx, version)
  const above = await trx
    .selectFrom('evaluations')
    .innerJoin('versions', 'versions.id', 'evaluations.version_id')
    .select(['versions.id', 'versions.skill_id', 'versions.sort_key'])
    .where('evaluations.skill_id', '=', version.skill_id)
    .where('evaluations.author_id', '=', authorId)
    .where('evaluations.model', 'in', models)
    .where('evaluations.withdrawn', '=', 0)
    .where('versions.sort_key', '>', version.sort_key)
    .orderBy('versions.sort_key')
    .limit(candidatesMax)
    .execute()
  for (const next of above) await updateSummary(trx, next)
}

async function updateSummary(trx: WriteTransaction, version: Evaluated): Promise<void> {
  const voices = await readVoices(trx, version.id)
  await putEvaluationSummary(trx, version.id, voices.length === 0 ? null : await summarize(trx, version, voices))
}

/** The result of one user for a version. */
interface Voice {
  readonly model: string
  readonly byOwner: boolean
  /** Whether the result is of a user who may not publish the skill, or of a trusted CI job. */
  readonly isIndependent: boolean
  readonly cases: number
  readonly withSkill: PassCounts
  readonly withoutSkill?: PassCounts | undefined
  readonly signature?: string | undefined
}

async function readVoices(trx: WriteTransaction, versionId: string): Promise<Voice[]> {
  const rows = await trx
    .selectFrom('evaluations')
    .select(['model', 'by_owner', 'identity', 'result'])
    .where('version_id', '=', versionId)
    .where('withdrawn', '=', 0)
    .orderBy('posted_at', 'desc')
    .orderBy('author_id')
    .limit(voicesMax)
    .execute()
  return rows.map(({ model, by_owner, identity, result }) => {
    const { cases, withSkill, withoutSkill, signature } = parseJson(result)
    const byOwner = by_owner === 1
    return { model, byOwner, isIndependent: !byOwner || identity !== null, cases, withSkill, withoutSkill, signature }
  })
}

async function summarize(
  trx: WriteTransaction,
  version: Evaluated,
  voices: readonly Voice[],
): Promise<EvaluationSummary> {
  const effect = toEffect(voices)
  const independent = toEffect(voices.filter(({ isIndependent }) => isIndependent))
  return {
    voices: voices.length,
    byOwner: voices.filter(({ byOwner }) => byOwner).length,
    models: toModels(voices),
    ...toSigners(voices),
    withSkill: toRate(pool(voices.map(({ cases, withSkill }) => ({ cases, ...withSkill })))),
    ...effect,
    ...(independent && { effectLow: independent.effect.low }),
    ...(await compareToLower(trx, version)),
  }
}

/** The models of results, the most frequent first. */
function toModels(voices: readonly Voice[]): string[] {
  const byModel = Map.groupBy(voices, ({ model }) => model)
  const sorted = [...byModel].toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || (a < b ? -1 : 1))
  return sorted.slice(0, modelsShownMax).map(([model]) => model)
}

/** The fingerprints of the keys that signed results; the key of the last posted result first. */
function toSigners(voices: readonly Voice[]): Pick<EvaluationSummary, 'signedBy'> {
  const signedBy = new Set<string>()
  for (const { signature } of voices)
    if (signature !== undefined && signedBy.size < signersShownMax) signedBy.add(readSshKey(signature).fingerprint)
  return signedBy.size > 0 ? { signedBy: [...signedBy] } : {}
}

/**
 * The rate without the skill, and the effect of the skill, from the results with runs both with and without the skill.
 * Undefined without such results.
 */
function toEffect(voices: readonly Voice[]) {
  const paired = voices.flatMap(({ cases, withSkill, withoutSkill }) =>
    withoutSkill ? [[{ cases, ...withSkill } as const, { cases, ...withoutSkill } as const] as const] : [],
  )
  if (paired.length === 0) return undefined
  const withoutSkill = pool(paired.map(([, without]) => without))
  const { value, low, high } = differenceInterval(pool(paired.map(([first]) => first)), withoutSkill)
  return { withoutSkill: toRate(withoutSkill), effect: { value: round(value), low: round(low), high: round(high) } }
}

/** Runs of `cases` different cases, and how many of the runs passed. */
interface CaseCounts extends PassCounts {
  readonly cases: number
}

/**
 * Combines the counts of results as if they were of one experiment. The combined rate is the mean of the results'
 * rates, so that each result counts the same. The combined number of runs is chosen so that the variance is that of the
 * mean: a result of few runs widens the interval.
 */
function pool(counts: readonly CaseCounts[]): PassCounts {
  const variance = counts.reduce(
    (sum, { runs, cases }) => sum + 1 / Math.min(runs, runsPerVoiceMax, cases * runsPerCaseMax),
    0,
  )
  const runs = counts.length ** 2 / variance
  const rate = counts.reduce((sum, one) => sum + one.passed / one.runs, 0) / counts.length
  return { runs, passed: Math.min(runs, rate * runs) }
}

function toRate({ passed, runs }: PassCounts): RateInterval {
  const { rate, low, high } = wilsonInterval(passed, runs)
  return { rate: round(rate), low: round(low), high: round(high) }
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}

/** The results of one user for two versions, with one model and the same number of cases. */
interface Pair {
  readonly byOwner: boolean
  readonly before: CaseCounts
  readonly after: CaseCounts
}

/**
 * The comparison with the next lower version that is offered and that enough of the same users measured: at least three
 * users, or one user who may publish the skill. So no single user can call a version of another owner worse.
 */
async function compareToLower(trx: WriteTransaction, version: Evaluated) {
  for (const [comparedTo, all] of await readPairs(trx, version)) {
    const pairs = all.length < comparedVoicesMin ? all.filter(({ byOwner }) => byOwner) : all
    if (pairs.length > 0) return { comparedTo, comparedBy: pairs.length, change: toChange(pairs) }
  }
  return undefined
}

/** Better or worse if the interval of the difference excludes 0, and if more than half of the users found the same. */
function toChange(pairs: readonly Pair[]): EvaluationSummary['change'] {
  const { low, high } = differenceInterval(
    pool(pairs.map(({ after }) => after)),
    pool(pairs.map(({ before }) => before)),
  )
  const signs = pairs.map(({ before, after }) => Math.sign(after.passed / after.runs - before.passed / before.runs))
  const isMost = (sign: number) => signs.filter((one) => one === sign).length * 2 > signs.length
  if (low > 0 && isMost(1)) return 'better'
  return high < 0 && isMost(-1) ? 'worse' : 'same'
}

/** The pairs of results of a version and of lower versions, by the lower version, the highest first. */
async function readPairs(trx: WriteTransaction, { id, skill_id, sort_key }: Evaluated): Promise<Map<string, Pair[]>> {
  const lower = await trx
    .selectFrom('versions')
    .select(['id', 'version'])
    .where('skill_id', '=', skill_id)
    .where('sort_key', '<', sort_key)
    .where('evaluations', 'is not', null)
    .where(offeredVersion)
    .orderBy('sort_key', 'desc')
    .limit(candidatesMax)
    .execute()
  const pairs = new Map(lower.map(({ version }): [string, Pair[]] => [version, []]))
  if (lower.length === 0) return pairs
  const rows = await trx
    .selectFrom('evaluations as later')
    .innerJoin('evaluations as earlier', (join) =>
      join
        .onRef('earlier.author_id', '=', 'later.author_id')
        .onRef('earlier.model', '=', 'later.model')
        .on('earlier.withdrawn', '=', 0),
    )
    .innerJoin('versions', 'versions.id', 'earlier.version_id')
    .select(['versions.version', 'earlier.result as before', 'later.result as after'])
    .select(['earlier.by_owner as owned', 'later.by_owner as owns'])
    .where('later.version_id', '=', id)
    .where('later.withdrawn', '=', 0)
    .where(
      'earlier.version_id',
      'in',
      lower.map((one) => one.id),
    )
    .orderBy('versions.sort_key', 'desc')
    .orderBy('later.posted_at', 'desc')
    .orderBy('later.author_id')
    .limit(voicesMax)
    .execute()
  for (const row of rows) {
    const [before, after] = [parseJson(row.before), parseJson(row.after)]
    if (before.cases !== after.cases) continue
    pairs.get(row.version)!.push({
      byOwner: row.owned === 1 && row.owns === 1,
      before: { cases: before.cases, ...before.withSkill },
      after: { cases: after.cases, ...after.withSkill },
    })
  }
  return pairs
}

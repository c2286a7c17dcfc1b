import {
  differenceInterval,
  type EvaluationSummary,
  type PassCounts,
  type RateInterval,
  wilsonInterval,
} from '@skillstead/protocol'
import { putEvaluationSummary } from '../catalogue/versions/version-evaluations.ts'
import { compileQuery, type Param } from '../storage/compiled-query.ts'
import { parseJson, type VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** A result may state a million runs, which no one can check: more than these do not narrow an interval. */
const runsPerVoiceMax = 100
/** Results of a version that count: the last posted. */
const voicesMax = 1000
const modelsShownMax = 10

type Evaluated = Pick<VersionRow, 'id' | 'skill_id' | 'sort_key'>

/**
 * Summarizes the results of a version again, and those of the versions that are compared with it by one of the models
 * of the changed result. No other version is: of the versions above that have a result of a model, each but the lowest
 * has a nearer one to be compared with.
 */
export async function updateSummaries(
  trx: WriteTransaction,
  version: Evaluated,
  models: readonly string[],
): Promise<void> {
  await updateSummary(trx, version)
  const { skill_id: skillId, sort_key: sortKey } = version
  const above = new Map<string, Evaluated>()
  for (const model of new Set(models)) {
    const [next] = await selectNextAbove(trx, { skillId, sortKey, model })
    if (next) above.set(next.id, next)
  }
  for (const next of above.values()) await updateSummary(trx, next)
}

async function updateSummary(trx: WriteTransaction, version: Evaluated): Promise<void> {
  const voices = await readVoices(trx, version.id)
  await putEvaluationSummary(trx, version.id, voices.length === 0 ? null : await summarize(trx, version, voices))
}

/** A user's result. */
interface Voice {
  readonly model: string
  readonly byOwner: boolean
  readonly withSkill: PassCounts
  readonly withoutSkill?: PassCounts | undefined
}

async function readVoices(trx: WriteTransaction, versionId: string): Promise<Voice[]> {
  const rows = await trx
    .selectFrom('evaluations')
    .select(['model', 'by_owner', 'result'])
    .where('version_id', '=', versionId)
    .where('withdrawn', '=', 0)
    .orderBy('posted_at', 'desc')
    .orderBy('author_id')
    .limit(voicesMax)
    .execute()
  return rows.map(({ model, by_owner, result }) => {
    const { withSkill, withoutSkill } = parseJson(result)
    return { model, byOwner: by_owner === 1, withSkill, withoutSkill }
  })
}

async function summarize(
  trx: WriteTransaction,
  version: Evaluated,
  voices: readonly Voice[],
): Promise<EvaluationSummary> {
  const paired = voices.flatMap(({ withSkill, withoutSkill }) => (withoutSkill ? [{ withSkill, withoutSkill }] : []))
  const models = toModels(voices)
  const summary: EvaluationSummary = {
    voices: voices.length,
    byOwner: voices.filter(({ byOwner }) => byOwner).length,
    models,
    withSkill: toRate(pool(voices.map(({ withSkill }) => withSkill))),
    ...(paired.length > 0 && toEffect(paired)),
  }
  const lower = await findCompared(trx, version, models)
  if (!lower) return summary
  const { low, high } = compareByModel(voices, await readVoices(trx, lower.id), models)
  return { ...summary, comparedTo: lower.version, change: low > 0 ? 'better' : high < 0 ? 'worse' : 'same' }
}

/** The models of results, the most frequent first. */
function toModels(voices: readonly Voice[]): string[] {
  const byModel = Map.groupBy(voices, ({ model }) => model)
  const sorted = [...byModel].toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || (a < b ? -1 : 1))
  return sorted.slice(0, modelsShownMax).map(([model]) => model)
}

function toEffect(paired: readonly { readonly withSkill: PassCounts; readonly withoutSkill: PassCounts }[]) {
  const withSkill = pool(paired.map((one) => one.withSkill))
  const withoutSkill = pool(paired.map((one) => one.withoutSkill))
  const { value, low, high } = differenceInterval(withSkill, withoutSkill)
  return { withoutSkill: toRate(withoutSkill), effect: { value: round(value), low: round(low), high: round(high) } }
}

/** The difference to a lower version, by the models of both: each model counts the same on both sides. */
function compareByModel(voices: readonly Voice[], lower: readonly Voice[], models: readonly string[]) {
  const shared = models.filter((model) => lower.some((voice) => voice.model === model))
  const ofModel = (all: readonly Voice[]) => (model: string) =>
    pool(all.filter((voice) => voice.model === model).map(({ withSkill }) => withSkill))
  return differenceInterval(pool(shared.map(ofModel(voices)), Infinity), pool(shared.map(ofModel(lower)), Infinity))
}

/** Counts as if of one experiment, whose rate is the mean of the rates, so that each voice counts the same. */
function pool(counts: readonly PassCounts[], runsMax = runsPerVoiceMax): PassCounts {
  const runs = counts.reduce((sum, one) => sum + Math.min(one.runs, runsMax), 0)
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

/** The next lower version that has a result of one of the models. */
async function findCompared(trx: WriteTransaction, { skill_id, sort_key }: Evaluated, models: readonly string[]) {
  return trx
    .selectFrom('evaluations')
    .innerJoin('versions', 'versions.id', 'evaluations.version_id')
    .select(['versions.id', 'versions.version'])
    .where('evaluations.skill_id', '=', skill_id)
    .where('evaluations.model', 'in', models)
    .where('evaluations.withdrawn', '=', 0)
    .where('versions.sort_key', '<', sort_key)
    .orderBy('versions.sort_key', 'desc')
    .limit(1)
    .executeTakeFirst()
}

const selectNextAbove = compileQuery((db, param: Param<{ skillId: string; sortKey: string; model: string }>) =>
  db
    .selectFrom('evaluations')
    .innerJoin('versions', 'versions.id', 'evaluations.version_id')
    .select(['versions.id', 'versions.skill_id', 'versions.sort_key'])
    .where('evaluations.skill_id', '=', param('skillId'))
    .where('evaluations.model', '=', param('model'))
    .where('evaluations.withdrawn', '=', 0)
    .where('versions.sort_key', '>', param('sortKey'))
    .orderBy('versions.sort_key')
    .limit(1),
)

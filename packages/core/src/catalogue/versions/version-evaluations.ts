import { type EvaluationResult, type EvaluationSummary, toTimestamp } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { compileQuery, type Param } from '../../storage/compiled-query.ts'
import { type EvaluationRow, parseJson, type Tables, type VersionRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import { offeredVersion } from './recalls.ts'

/** The value of `skills.effect_low` without an effect: below all intervals, so that lists have such skills last. */
export const noEffect = -2

/** The field with the summary of a version's evaluation results. */
export interface ShownEvaluations {
  readonly evaluations?: EvaluationSummary
}

/**
 * The field with the results of a version; none without results. `offered`: the offered versions of the skill. A
 * comparison with a version that is not offered is left out: users cannot choose that version.
 */
export function toShownEvaluations(
  { evaluations }: Pick<VersionRow, 'evaluations'>,
  offered: readonly Pick<VersionRow, 'version'>[],
): ShownEvaluations {
  if (evaluations === null) return {}
  const summary = parseJson(evaluations)
  const { comparedTo, comparedBy: _comparedBy, change: _change, ...rest } = summary
  return { evaluations: offered.some(({ version }) => version === comparedTo) ? summary : rest }
}

const selectOffered = compileQuery((db, param: Param<{ skillId: string; version: string }>) =>
  db
    .selectFrom('versions')
    .select('version')
    .where('skill_id', '=', param('skillId'))
    .where('version', '=', param('version'))
    .where(offeredVersion),
)

/** As {@link toShownEvaluations} for versions of one skill. Reads which of the compared versions are offered. */
export async function readShownEvaluations(
  db: Kysely<Tables>,
  rows: readonly Pick<VersionRow, 'skill_id' | 'evaluations'>[],
): Promise<(row: Pick<VersionRow, 'evaluations'>) => ShownEvaluations> {
  const compared = new Set(rows.flatMap(({ evaluations }) => (evaluations && parseJson(evaluations).comparedTo) || []))
  const skillId = rows[0]?.skill_id ?? ''
  const offered = await Promise.all(Array.from(compared, (version) => selectOffered(db, { skillId, version })))
  return (row) => toShownEvaluations(row, offered.flat())
}

/** The value of `skills.effect_low` for a skill with this latest version. */
export function toEffectLow(latest: Pick<VersionRow, 'evaluations'> | undefined): number {
  return latest?.evaluations ? (parseJson(latest.evaluations).effectLow ?? noEffect) : noEffect
}

/** A result as it was posted. */
export function toResult({ result, transcripts }: Pick<EvaluationRow, 'result' | 'transcripts'>): EvaluationResult {
  return { ...parseJson(result), ...(transcripts !== '' && { transcripts }) }
}

/** The columns of a result as it was posted. */
export function toResultColumns({ transcripts = '', ...result }: EvaluationResult) {
  const { model, ranAt } = result
  const ran_at = Date.parse(ranAt)
  const stored = JSON.stringify({ ...result, ranAt: toTimestamp(ran_at) })
  return { model, ran_at, result: stored, transcripts }
}

/** Stores the summary of the results of a version; null without results. */
export async function putEvaluationSummary(
  trx: WriteTransaction,
  versionId: string,
  summary: EvaluationSummary | null,
): Promise<void> {
  const evaluations = summary && JSON.stringify(summary)
  await trx.updateTable('versions').set({ evaluations }).where('id', '=', versionId).execute()
}

/** The results of all versions of a skill that are not withdrawn, in the order in which they were posted. */
export function readSkillEvaluations(db: Kysely<Tables>, skillId: string): Promise<EvaluationRow[]> {
  return db
    .selectFrom('evaluations')
    .selectAll()
    .where('skill_id', '=', skillId)
    .where('withdrawn', '=', 0)
    .orderBy('posted_at')
    .orderBy('version_id')
    .orderBy('author_id')
    .execute()
}

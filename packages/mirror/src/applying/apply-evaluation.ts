import {
  findEvaluation,
  findSignatureProblem,
  markSynced,
  putEvaluation,
  toAuthorPart,
  toResultColumns,
  type CatalogueContext,
  type SkillRow,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { toTimestamp } from '@skillstead/protocol'
import { toApplied } from './apply-changes.ts'
import type { EvaluationEntry } from './entry-data.ts'
import type { MirrorOutcome } from './mirrored-types.ts'
import { refusePlace } from './place-skill.ts'
import { needsRelay, wasRelayed, type Relaying } from './relay-entries.ts'
import { refuseTexts } from './scan-refusal.ts'

const unchanged: MirrorOutcome = { result: 'unchanged' }

/**
 * Applies a result that a user posted at the upstream, or its withdrawal. Changes nothing if the entry is a replay: its
 * result is not later than the stored result of the same user.
 */
export async function applyEvaluation(
  context: CatalogueContext,
  trx: WriteTransaction,
  { data, entry }: EvaluationEntry,
  { before: skill, relaying }: { readonly before: SkillRow; readonly relaying: Relaying },
): Promise<MirrorOutcome> {
  const { relay } = relaying
  const version = await trx
    .selectFrom('versions')
    .select(['id', 'skill_id', 'sort_key', 'digest'])
    .where('skill_id', '=', skill.id)
    .where('version', '=', data.version)
    .executeTakeFirst()
  if (!version || (await wasRelayed(trx, relay))) return unchanged
  if (version.digest !== entry.digest) {
    const sentence = `${entry.subject} exists on this node with other content than the evaluated version.`
    return refusePlace('version_exists', sentence)
  }
  const before = await findEvaluation(trx, version.id, data.author.id)
  const { author, identity, byOwner, ranAt, postedAt, result } = data
  const withdrawn = Number(result === null)
  // An entry is skipped if its result is older than the stored one, or if it withdraws a result that is not stored.
  if (before ? before.ran_at > ranAt : !result) return unchanged
  const isStored = before?.ran_at === ranAt && before.withdrawn >= withdrawn
  const byAuthor = toAuthorPart(author.id)
  if (isStored && (before.withdrawn || !(await needsRelay(trx, relay, data.skill.fullName, byAuthor)))) return unchanged
  const signed = { author: author.username, skill: data.skill.id, version: data.version, digest: version.digest }
  const problem = result && findSignatureProblem(signed, { ...result, ranAt: toTimestamp(ranAt) })
  if (problem) return refusePlace('malformed', `The signature of a result for ${entry.subject} ${problem}`)
  const refusal = result && (await refuseTexts(context, { runner: result.runner, model: result.model }, entry.subject))
  if (refusal) return refusal
  const at = context.clock.now()
  const columns = result ? toResultColumns({ ...result, ranAt: toTimestamp(ranAt) }) : before!
  const row = {
    ...columns,
    version_id: version.id,
    author_id: author.id,
    author: author.username,
    skill_id: skill.id,
    identity: identity ? JSON.stringify(identity) : null,
    by_owner: Number(byOwner),
    posted_at: Math.min(at, postedAt),
    withdrawn,
  }
  await markSynced(trx, skill.id, at)
  return toApplied(skill, await putEvaluation(context, trx, { skill, version, before, row, relay }))
}

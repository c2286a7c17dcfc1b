import { isDeepStrictEqual } from 'node:util'
import { type Evaluation, hasRunOfEachCase, RegistryError, toTimestamp } from '@skillstead/protocol'
import { checkTexts } from '../catalogue/inspecting/metadata-scan.ts'
import { getSkill, getSkillNow } from '../catalogue/skills/find-skill.ts'
import { getVersion } from '../catalogue/skills/read-skill.ts'
import { type RefreshContext, refreshSkill } from '../catalogue/skills/refresh-skill.ts'
import { findSignatureProblem } from '../catalogue/versions/signed-result.ts'
import { toResult, toResultColumns } from '../catalogue/versions/version-evaluations.ts'
import { requireAccount, requireUser } from '../kernel/caller.ts'
import { invalidField } from '../kernel/field-errors.ts'
import type { Operation } from '../kernel/operation-input.ts'
import { readSshKey } from '../kernel/ssh-signature.ts'
import type { LogDraft } from '../log/append-change.ts'
import { recordAudit } from '../log/audit.ts'
import { readPage } from '../storage/read-page.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { type EvaluationRow, parseJson, type SkillRow, type VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { hasRight, isAdministrator, requireWithinLimit } from '../visibility/rights.ts'
import { updateSummaries } from './evaluation-summary.ts'
import type { GovernanceContext } from './governance-context.ts'

/** Earliest accepted time of a run: no skill is older. */
const earliestMs = Date.UTC(2020, 0)
/** Maximum difference between the clocks of the author and of the node. */
const aheadMsMax = 5 * 60_000

/** GET /skills/<name>/versions/<version>/evaluations, for callers who may read the skill; the last posted first. */
export const listEvaluations: Operation<'listEvaluations', StorageContext> = async (context, input, caller) => {
  const skill = await getSkill(context, input.name, caller)
  const version = await getVersion(context, skill, input.version)
  const evaluations = context.database.read
    .selectFrom('evaluations')
    .where('version_id', '=', version.id)
    .where('withdrawn', '=', 0)
  const sorted = evaluations.selectAll().orderBy('posted_at', 'desc').orderBy('author_id')
  const { rows, paging } = await readPage(evaluations, sorted, input)
  return { evaluations: rows.map((row) => toEvaluation(row, version)), ...paging }
}

/**
 * POST /skills/<name>/versions/<version>/evaluations, by any user who may read the skill: 201, or 200 if the result
 * replaces an earlier result of the user, or equals it. A different result whose run is not later than the run of the
 * user's last result is refused as a replay.
 */
export const createEvaluation: Operation<'createEvaluation', GovernanceContext> = async (context, input, caller) => {
  const user = requireAccount(caller)
  const found = await getSkill(context, input.name, caller)
  requireWithinLimit(caller, found.full_name)
  const version = await getVersion(context, found, input.version)
  const { name: _name, version: _version, digest, ...given } = input
  if (digest !== version.digest) {
    const detail = `The result is of other content: ${found.full_name}@${version.version} has the digest ${version.digest}. Evaluate this version.`
    throw new RegistryError('conflict', detail)
  }
  if (!hasRunOfEachCase(given)) throw invalidField('cases', 'must not be more than the runs on each side')
  const ranAt = Date.parse(given.ranAt)
  // The negated condition also refuses text that `Date` cannot parse, for which `ranAt` is NaN.
  if (!(ranAt >= earliestMs)) throw invalidField('ranAt', `must not be before ${toTimestamp(earliestMs)}`)
  if (ranAt > context.clock.now() + aheadMsMax) throw invalidField('ranAt', 'must not be in the future')
  const signed = { author: user.username, skill: version.skill_id, version: version.version, digest }
  const problem = findSignatureProblem(signed, given)
  if (problem !== undefined) throw invalidField('signature', problem)
  await checkTexts(context, { runner: given.runner, model: given.model })
  await context.addressLimits.require('evaluation', user.userId)
  // Limited per version, because the public log stores each result for ever, even after it was replaced.
  await context.addressLimits.require('replacement', user.userId, version.id)
  return context.database.writer.write(async (trx) => {
    const skill = await getSkillNow(context, trx, found, caller)
    refuseMirrored(skill)
    const before = await findEvaluation(trx, version.id, user.userId)
    const columns = toResultColumns(given)
    // The same result was already stored, for example by a request whose response was lost.
    if (before?.withdrawn === 0 && isDeepStrictEqual({ ...before, ...columns }, before))
      return { status: 200, body: toEvaluation(before, version) }
    if (before && before.ran_at >= ranAt) {
      const detail = `You already posted a result of ${toTimestamp(before.ran_at)} for this version. Post one of a later run.`
      throw new RegistryError('conflict', detail)
    }
    const row: EvaluationRow = {
      version_id: version.id,
      author_id: user.userId,
      author: user.username,
      skill_id: skill.id,
      identity: user.identity ? JSON.stringify(user.identity) : null,
      by_owner: Number(await hasRight(trx, skill, caller, 'publish')),
      posted_at: context.clock.now(),
      withdrawn: 0,
      ...columns,
    }
    await putEvaluation(context, trx, { skill, version, before, row })
    return { status: before && before.withdrawn === 0 ? 200 : 201, body: toEvaluation(row, version) }
  })
}

/** DELETE /skills/<name>/versions/<version>/evaluations/<username>, by the author or an administrator. */
export const deleteEvaluation: Operation<'deleteEvaluation', GovernanceContext> = async (context, input, caller) => {
  const user = requireUser(caller)
  const { username } = input
  const found = await getSkill(context, input.name, caller)
  requireWithinLimit(caller, found.full_name)
  if (username !== user.username && !isAdministrator(caller))
    throw new RegistryError('forbidden', `Only ${username} or an administrator may withdraw this result.`)
  const version = await getVersion(context, found, input.version)
  await context.database.writer.write(async (trx) => {
    const skill = await getSkillNow(context, trx, found, caller)
    refuseMirrored(skill)
    const before = await findEvaluation(trx, version.id, username, 'author')
    const subject = `${skill.full_name}@${version.version}`
    if (!before || before.withdrawn === 1)
      throw new RegistryError('not_found', `${username} has no result for ${subject}.`)
    const at = context.clock.now()
    await recordAudit(trx, { caller, action: 'evaluation.withdraw', subject, at, data: { author: username } })
    await putEvaluation(context, trx, { skill, version, before, row: { ...before, withdrawn: 1 } })
  })
}

/**
 * Stores a result or its withdrawal, and the new summary of the version's results. `relay`: the entry of an upstream's
 * log to publish in place of an entry of this node.
 */
export async function putEvaluation(
  context: RefreshContext & Pick<StorageContext, 'clock'>,
  trx: WriteTransaction,
  change: {
    readonly skill: SkillRow
    readonly version: Pick<VersionRow, 'id' | 'skill_id' | 'sort_key'>
    readonly before: EvaluationRow | undefined
    readonly row: EvaluationRow
    readonly relay?: LogDraft
  },
): Promise<SkillRow> {
  const { skill, version, before, row, relay } = change
  const { version_id: _versionId, author_id: _authorId, ...columns } = row
  await trx
    .insertInto('evaluations')
    .values(row)
    .onConflict((conflict) => conflict.columns(['version_id', 'author_id']).doUpdateSet(columns))
    .execute()
  const models = before ? [before.model, row.model] : [row.model]
  await updateSummaries(trx, version, { authorId: row.author_id, models })
  const cause = { type: 'evaluation', evaluation: row } as const
  return refreshSkill(context, trx, {
    skillId: skill.id,
    before: skill,
    cause,
    at: context.clock.now(),
    ...(relay && { relay }),
  })
}

/** The result of a user for a version, even if it was withdrawn. `by`: whether the user is given by id or by name. */
export function findEvaluation(
  trx: WriteTransaction,
  versionId: string,
  user: string,
  by: 'author' | 'author_id' = 'author_id',
): Promise<EvaluationRow | undefined> {
  return trx
    .selectFrom('evaluations')
    .selectAll()
    .where('version_id', '=', versionId)
    .where(by, '=', user)
    .executeTakeFirst()
}

/**
 * Throws `conflict` for a mirrored skill: the log of the upstream has the skill's results, and a mirror could not add
 * results to that log.
 */
function refuseMirrored({ origin_kind, origin_upstream, full_name }: SkillRow): void {
  if (origin_kind !== 'mirror') return
  const detail = `${full_name} is mirrored from ${origin_upstream ?? 'an upstream'}. Post and withdraw results there.`
  throw new RegistryError('conflict', detail)
}

function toEvaluation(row: EvaluationRow, { version, digest }: Pick<VersionRow, 'version' | 'digest'>): Evaluation {
  const result = toResult(row)
  return {
    author: { username: row.author },
    ...(row.identity !== null && { identity: parseJson(row.identity) }),
    byOwner: row.by_owner === 1,
    version,
    digest,
    ...result,
    ...(result.signature !== undefined && { signedBy: readSshKey(result.signature) }),
    postedAt: toTimestamp(row.posted_at),
  }
}

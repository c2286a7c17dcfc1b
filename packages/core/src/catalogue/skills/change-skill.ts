import { RegistryError, type Right } from '@skillstead/protocol'
import type { Caller, UserCaller } from '../../kernel/caller.ts'
import type { Input, Operation } from '../../kernel/operation-input.ts'
import { recordAudit } from '../../log/audit.ts'
import type { SkillRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { getSkill, selectByFullName } from './find-skill.ts'
import { getVersion } from './read-skill.ts'
import { refreshSkill } from './refresh-skill.ts'
import type { SkillCause } from './skill-log.ts'
import { refuseQuarantined } from '../versions/version-files.ts'
import { readReaders } from '../../visibility/decisions.ts'
import { requireRight } from '../../visibility/rights.ts'

/**
 * Changes a skill and updates everything derived from it. `work` receives the current row and returns whether it
 * changed anything. `skill` is the row on which the caller's permission was checked; `right` is checked again in the
 * transaction. Throws `not_found` if the skill was deleted after the first check, `conflict` if its owner changed.
 */
export async function changeSkill(
  context: CatalogueContext,
  caller: Caller,
  skill: SkillRow,
  what: { action: string; subject: string; cause: SkillCause; right?: Right; data?: Record<string, unknown> },
  work: (trx: WriteTransaction, before: SkillRow) => Promise<boolean>,
): Promise<SkillRow> {
  return context.database.writer.write(async (trx) => {
    const before = await trx.selectFrom('skills').selectAll().where('id', '=', skill.id).executeTakeFirstOrThrow()
    refuseChangedSkill(skill, before)
    if (what.right !== undefined) await requireRight(trx, before, caller, what.right)
    // `work` may remove collaborators, who must learn that they no longer see the skill.
    const readersBefore = await readReaders(trx, before)
    if (!(await work(trx, before))) return before
    const at = context.clock.now()
    await recordAudit(trx, { caller, action: what.action, subject: what.subject, at, data: what.data })
    return refreshSkill(context, trx, { skillId: skill.id, before, readersBefore, cause: what.cause, at })
  })
}

/** Between the permission check and the write, another user may have deleted or taken over the skill. */
export function refuseChangedSkill(checked: Pick<SkillRow, 'owner_id'>, now: SkillRow): void {
  if (now.state === 'withdrawn') throw new RegistryError('not_found', `The skill '${now.full_name}' was deleted.`)
  if (now.owner_id !== checked.owner_id)
    throw new RegistryError('conflict', `${now.full_name} has a new owner. Read it again before you change it.`)
}

/**
 * The skill that a user publishes to, checked again within the transaction, since a role, the skill or its name may
 * have changed. Publishing with a visibility requires the right `manage`. Throws `not_found` and `forbidden`.
 */
export async function requireWriter(
  trx: WriteTransaction,
  fullName: string,
  visibility: SkillRow['visibility'] | undefined,
  user: UserCaller,
): Promise<SkillRow> {
  const [skill] = await selectByFullName(trx, { fullName })
  if (!skill || skill.state === 'withdrawn')
    throw new RegistryError('not_found', `The skill '${fullName}' was deleted.`)
  const isVisibilityChange = visibility !== undefined && visibility !== skill.visibility
  await requireRight(trx, skill, user, isVisibilityChange ? 'manage' : 'publish')
  return skill
}

/** PUT and DELETE /skills/<name>/versions/<version>: sets or removes a yank. Idempotent. */
export async function setYanked(
  context: CatalogueContext,
  input: Input<'yankVersion'>,
  yanked: boolean,
  caller: Caller,
): Promise<undefined> {
  const skill = await getSkill(context, input.name, caller)
  await requireRight(context.database.read, skill, caller, 'publish')
  const { id, version } = await getVersion(context, skill, input.version)
  if (!yanked) await refuseQuarantined(context.database.read, skill, { id, version })
  const action = yanked ? 'skill.yank' : 'skill.unyank'
  await changeSkill(
    context,
    caller,
    skill,
    { action, subject: `${skill.full_name}@${version}`, right: 'publish', cause: { type: 'yank', versionId: id } },
    (trx) => markYanked(trx, id, yanked),
  )
}

/** Stores whether a version is yanked. Returns whether that changed; the caller then refreshes the skill. */
export async function markYanked(trx: WriteTransaction, versionId: string, yanked: boolean): Promise<boolean> {
  const updated = await trx
    .updateTable('versions')
    .set({ yanked: Number(yanked) })
    .where('id', '=', versionId)
    .where('yanked', '=', Number(!yanked))
    .executeTakeFirst()
  return updated.numUpdatedRows > 0n
}

/** DELETE /skills/<name>: withdraws the skill, also from mirrors. Its name stays taken permanently. */
export const deleteSkill: Operation<'deleteSkill', CatalogueContext> = async (context, input, caller) => {
  const skill = await getSkill(context, input.name, caller)
  await requireRight(context.database.read, skill, caller, 'manage')
  await changeSkill(
    context,
    caller,
    skill,
    { action: 'skill.delete', subject: skill.full_name, right: 'manage', cause: { type: 'skill' } },
    async (trx) => {
      await trx.updateTable('skills').set({ state: 'withdrawn' }).where('id', '=', skill.id).execute()
      await trx.deleteFrom('transfers').where('skill_id', '=', skill.id).execute()
      return true
    },
  )
}

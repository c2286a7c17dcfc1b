import { type Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { changeSkill } from './change-skill.ts'
import { getSkill } from './find-skill.ts'
import { refuseQuarantined } from './quarantined.ts'
import { getVersion } from './read-skill.ts'
import { canWrite, requireOwner } from './visibility.ts'

/** PUT and DELETE /skills/<name>/versions/<version>: sets or removes a yank. Idempotent. */
export async function setYanked(
  context: CatalogueContext,
  input: { name: string; version: string },
  yanked: boolean,
  caller: Caller,
): Promise<undefined> {
  const skill = await getSkill(context, input.name, caller)
  if (!(await canWrite(context.database.read, skill, caller))) requireOwner(skill, caller)
  const { id, version } = await getVersion(context, skill, input.version)
  if (!yanked) await refuseQuarantined(context.database.read, skill, { id, version })
  const action = yanked ? 'skill.yank' : 'skill.unyank'
  await changeSkill(
    context,
    caller,
    skill,
    { action, subject: `${skill.full_name}@${version}`, cause: { type: 'yank', versionId: id } },
    async (trx, before) => {
      if (!(await canWrite(trx, before, caller))) requireOwner(before, caller)
      const updated = await trx
        .updateTable('versions')
        .set({ yanked: Number(yanked) })
        .where('id', '=', id)
        .where('yanked', '=', Number(!yanked))
        .executeTakeFirst()
      return updated.numUpdatedRows > 0n
    },
  )
}

/** DELETE /skills/<name>: withdraws the skill everywhere. The name stays taken permanently. */
export async function deleteSkill(
  context: CatalogueContext,
  input: { name: string },
  caller: Caller,
): Promise<undefined> {
  const skill = await getSkill(context, input.name, caller)
  requireOwner(skill, caller)
  await changeSkill(
    context,
    caller,
    skill,
    { action: 'skill.delete', subject: skill.full_name, cause: { type: 'skill' } },
    async (trx) => {
      await trx.updateTable('skills').set({ state: 'withdrawn' }).where('id', '=', skill.id).execute()
      await trx.deleteFrom('transfers').where('skill_id', '=', skill.id).execute()
      return true
    },
  )
}

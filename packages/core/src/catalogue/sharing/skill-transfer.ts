import { RegistryError, toTimestamp } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { StorageContext } from '../../storage/storage-context.ts'
import { getUserByName } from '../../accounts/find-user.ts'
import { hasMemberRight, requireMemberRight } from '../../accounts/organisations.ts'
import { type Caller, requireAccount, type UserCaller } from '../../kernel/caller.ts'
import type { Operation } from '../../kernel/operation-input.ts'
import { recordAudit } from '../../log/audit.ts'
import { hasRow, removeRows, addRow } from '../../storage/table-rows.ts'
import type { SkillRow, Tables, UserRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { changeSkill, refuseChangedSkill } from '../skills/change-skill.ts'
import { removeCollaborators } from './collaborators.ts'
import { getSkill } from '../skills/find-skill.ts'
import { showDetails } from '../skills/show-details.ts'
import { requireStorage, sumVersionBytes } from '../skills/storage-quota.ts'
import { requireRight, selectOrganisationsWith } from '../../visibility/rights.ts'

/** POST /skills/<name>/transfer: offers the skill to another user, who may accept. Replaces an earlier offer. */
export const offerTransfer: Operation<'transferSkill', StorageContext> = async (context, input, caller) => {
  const skill = await getSkill(context, input.name, caller)
  await requireRight(context.database.read, skill, caller, 'manage')
  const newOwner = await getUserByName(context, input.newOwner)
  if (newOwner.id === skill.owner_id)
    throw new RegistryError('conflict', `${skill.full_name} already belongs to ${newOwner.username}.`)
  if (!newOwner.claimed)
    throw new RegistryError('forbidden', `No user has claimed the namespace ${newOwner.username}. Choose another user.`)
  const at = context.clock.now()
  await context.database.writer.write(async (trx) => {
    const now = await trx.selectFrom('skills').selectAll().where('id', '=', skill.id).executeTakeFirstOrThrow()
    refuseChangedSkill(skill, now)
    await requireRight(trx, now, caller, 'manage')
    await requireOrganisationRight(trx, now, caller)
    const offer = { skill_id: skill.id, new_owner_id: newOwner.id, created_at: at }
    await trx.deleteFrom('transfers').where('skill_id', '=', skill.id).execute()
    await trx.insertInto('transfers').values(offer).execute()
    const data = { newOwner: newOwner.username }
    await recordAudit(trx, { caller, action: 'skill.transfer.offer', subject: skill.full_name, at, data })
  })
  return { fullName: skill.full_name, newOwner: newOwner.username, createdAt: toTimestamp(at) }
}

/** Only administrators of an organisation may transfer its skills to other owners; roles of a team do not suffice. */
async function requireOrganisationRight(
  trx: WriteTransaction,
  { owner_id: id, owner: username }: SkillRow,
  caller: Caller,
) {
  if (!(await hasRow(trx, 'users', { id, kind: 'organisation' }))) return
  await requireMemberRight(trx, { id, username }, caller, 'administer')
}

/**
 * POST /skills/<name>/transfer/accept: moves the skill to the new owner. For an organisation, a member who may manage
 * its skills accepts. The old full name redirects to the new name.
 */
export const acceptTransfer: Operation<'acceptTransfer', CatalogueContext> = async (context, input, caller) => {
  const user = requireAccount(caller)
  const { newOwnerId, ...skill } = await getTransferOffer(context, input.name, user.userId)
  if (!(await mayAccept(context.database.read, newOwnerId, user)))
    throw new RegistryError('forbidden', `Only the recipient can accept the transfer of ${skill.full_name}.`)
  const recipient = context.database.read.selectFrom('users').select(['id', 'username']).where('id', '=', newOwnerId)
  const owner = await recipient.executeTakeFirstOrThrow()
  const fullName = `${owner.username}/${skill.name}`
  const after = await changeSkill(
    context,
    caller,
    skill,
    { action: 'skill.transfer.accept', subject: fullName, cause: { type: 'skill' } },
    async (trx, before) => {
      if (!(await mayAccept(trx, owner.id, user))) throw noTransferOffer(skill.full_name)
      await takeTransferOffer(trx, before, owner.id)
      await refuseTakenFullName(trx, fullName, skill.id)
      const addition = { name: before.full_name, bytes: await sumVersionBytes(trx, skill.id) }
      await requireStorage(context, trx, owner, addition)
      await moveSkill(context, trx, before, { owner, fullName, at: context.clock.now() })
      return true
    },
  )
  return showDetails(context, after, caller)
}

/** Whether a user may accept a skill for the new owner: the user, or an organisation whose skills the user manages. */
async function mayAccept(db: Kysely<Tables>, newOwnerId: string, { userId }: UserCaller): Promise<boolean> {
  return newOwnerId === userId || (await hasMemberRight(db, newOwnerId, userId, 'manage'))
}

/** Moves a skill to another owner's namespace. The old full name redirects to the new name. */
export async function moveSkill(
  context: CatalogueContext,
  trx: WriteTransaction,
  { id, full_name, visibility }: Pick<SkillRow, 'id' | 'full_name' | 'visibility'>,
  { owner, fullName, at }: { owner: Pick<UserRow, 'id' | 'username'>; fullName: string; at: number },
): Promise<void> {
  // If the skill returns to an earlier name, the name must no longer redirect.
  await trx.deleteFrom('aliases').where('full_name', '=', fullName).execute()
  const moved = { owner_id: owner.id, owner: owner.username, full_name: fullName }
  // A skill visible to one organisation must not become visible to the members of another organisation.
  const narrowed = visibility === 'organisation' && { visibility: 'private' as const }
  await trx
    .updateTable('skills')
    .set({ ...moved, ...narrowed })
    .where('id', '=', id)
    .execute()
  await addRow(trx, 'aliases', { full_name, skill_id: id, created_at: at })
  await removeCollaborators(trx, id)
  // Removes the skill's policy, which the former owner set: it would replace rules of the new owner.
  await context.policies.forget(trx, id)
  await trx.deleteFrom('team_skills').where('skill_id', '=', id).execute()
  // The former owner created the share links, and their recipients may have stored them.
  await trx.deleteFrom('shares').where('skill_id', '=', id).execute()
  await context.reputation.recountCredit(trx, id)
}

/** DELETE /skills/<name>/transfer: withdraws (owner) or declines (recipient) the offer. */
export const cancelTransfer: Operation<'cancelTransfer', StorageContext> = async (context, input, caller) => {
  const user = requireAccount(caller)
  const skill = await getTransferOffer(context, input.name, user.userId)
  await context.database.writer.write(async (trx) => {
    const cancelled = await trx
      .deleteFrom('transfers')
      .where('skill_id', '=', skill.id)
      .where('skill_id', 'in', selectOffers(trx, user.userId).select('skills.id'))
      .returning('skill_id')
      .executeTakeFirst()
    if (!cancelled) throw noTransferOffer(skill.full_name)
    const at = context.clock.now()
    await recordAudit(trx, { caller, action: 'skill.transfer.cancel', subject: skill.full_name, at })
  })
}

/** GET /transfers: the pending offers to or by the caller, or an organisation whose skills the caller manages. */
export async function listTransfers(context: StorageContext, caller: Caller) {
  const { userId } = requireAccount(caller)
  const rows = await selectOffers(context.database.read, userId)
    .innerJoin('users', 'users.id', 'transfers.new_owner_id')
    .select(['skills.full_name as fullName', 'users.username as newOwner', 'transfers.created_at as createdAt'])
    .orderBy('transfers.created_at')
    .orderBy('fullName')
    .execute()
  const transfers = rows.map((row) => ({ ...row, createdAt: toTimestamp(row.createdAt) }))
  return { transfers, total: transfers.length }
}

/** The offers of which a user, or an organisation whose skills the user manages, is a party. */
function selectOffers(db: Kysely<Tables>, userId: string) {
  const managed = selectOrganisationsWith('manage', userId)
  return db
    .selectFrom('transfers')
    .innerJoin('skills', 'skills.id', 'transfers.skill_id')
    .where((eb) =>
      eb.or(
        (['transfers.new_owner_id', 'skills.owner_id'] as const).flatMap((party) => [
          eb(party, '=', userId),
          eb(party, 'in', managed),
        ]),
      ),
    )
}

/** The pending offer of a skill. Both parties find it, even for a private skill; other users get `not_found`. */
async function getTransferOffer(context: StorageContext, name: string, userId: string) {
  const offered = await selectOffers(context.database.read, userId)
    .selectAll('skills')
    .select('transfers.new_owner_id as newOwnerId')
    .where((eb) => eb.or([eb('skills.full_name', '=', name), eb('skills.name', '=', name)]))
    .execute()
  if (offered.length > 1)
    throw new RegistryError('conflict', `More than one skill named '${name}' is offered to you. Use the full name.`)
  if (!offered[0]) throw noTransferOffer(name)
  return offered[0]
}

/** Removes an offer. Throws if the offer was cancelled, accepted or made to another user since it was read. */
async function takeTransferOffer(trx: WriteTransaction, skill: SkillRow, newOwnerId: string): Promise<void> {
  // A hidden or taken-down skill must stay with its owner until the case is decided.
  if (skill.state !== 'live') throw noTransferOffer(skill.full_name)
  const isTaken = await removeRows(trx, 'transfers', { skill_id: skill.id, new_owner_id: newOwnerId })
  if (!isTaken) throw noTransferOffer(skill.full_name)
}

function noTransferOffer(name: string): RegistryError {
  return new RegistryError('not_found', `There is no pending transfer of '${name}' to you or by you.`)
}

async function refuseTakenFullName(trx: WriteTransaction, fullName: string, skillId: string): Promise<void> {
  const taken = await trx.selectFrom('skills').select('id').where('full_name', '=', fullName).executeTakeFirst()
  const alias = await trx.selectFrom('aliases').select('skill_id').where('full_name', '=', fullName).executeTakeFirst()
  if (taken || (alias && alias.skill_id !== skillId))
    throw new RegistryError('name_taken', `${fullName} is taken, so the skill cannot be transferred under that name.`)
}

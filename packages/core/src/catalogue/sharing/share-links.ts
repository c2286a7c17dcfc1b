import { RegistryError, toTimestamp } from '@skillstead/protocol'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { Caller } from '../../kernel/caller.ts'
import { dayMs } from '../../kernel/clock.ts'
import { newId } from '../../kernel/ids.ts'
import type { Operation } from '../../kernel/operation-input.ts'
import { createToken, hashToken } from '../../kernel/tokens.ts'
import type { RevokedKeys } from '../../accounts/accounts-context.ts'
import { requireMaker } from '../../accounts/api-keys.ts'
import { recordAudit } from '../../log/audit.ts'
import { countRows } from '../../storage/count-rows.ts'
import { removeRows } from '../../storage/table-rows.ts'
import type { ShareRow, SkillRow } from '../../storage/tables.ts'
import type { Writer, WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { getSkill, getSkillNow } from '../skills/find-skill.ts'
import { requireRight } from '../../visibility/rights.ts'

const sharesMax = 100

/**
 * POST /skills/<name>/shares: creates a link token with read access, which ends no later than the caller's API key. The
 * token is in this response only.
 */
export const createShare: Operation<'createShare', CatalogueContext> = async (context, input, caller) => {
  const skill = await getSharableSkill(context, input.name, caller)
  const { token, hash } = createToken('ssl')
  const now = context.clock.now()
  return context.database.writer.write(async (trx) => {
    const maker = await requireMaker(trx, caller, now)
    await requireRight(trx, await getSkillNow(context, trx, skill, caller), caller, 'manage')
    // Expired links are useless and not listed.
    await trx.deleteFrom('shares').where('skill_id', '=', skill.id).where('expires_at', '<=', now).execute()
    const count = await countRows(trx.selectFrom('shares').where('skill_id', '=', skill.id))
    if (count >= sharesMax)
      throw new RegistryError('conflict', `${skill.full_name} already has ${sharesMax} share links. Delete one first.`)
    const row: ShareRow = {
      id: newId(),
      skill_id: skill.id,
      token_hash: hash,
      created_at: now,
      expires_at: Math.min(now + input.expiresInDays * dayMs, maker.endsAt),
      made_by: maker.id,
    }
    await trx.insertInto('shares').values(row).execute()
    await recordAudit(trx, { caller, action: 'skill.share', subject: skill.full_name, at: now })
    return { ...toShareLink(row), token }
  })
}

/** GET /skills/<name>/shares: links that have not expired, newest first. */
export const listShares: Operation<'listShares', StorageContext> = async (context, input, caller) => {
  const skill = await getSharableSkill(context, input.name, caller)
  const rows = await context.database.read
    .selectFrom('shares')
    .selectAll()
    .where('skill_id', '=', skill.id)
    .where('expires_at', '>', context.clock.now())
    .orderBy('id', 'desc')
    .execute()
  return { shares: rows.map(toShareLink), total: rows.length }
}

/** DELETE /skills/<name>/shares/<id>: revokes the link at once. */
export const deleteShare: Operation<'deleteShare', CatalogueContext> = async (context, input, caller) => {
  const skill = await getSharableSkill(context, input.name, caller)
  await context.database.writer.write(async (trx) => {
    await requireRight(trx, await getSkillNow(context, trx, skill, caller), caller, 'manage')
    if (!(await removeRows(trx, 'shares', { skill_id: skill.id, id: input.id })))
      throw new RegistryError('not_found', `${skill.full_name} has no share link with this id.`)
    const at = context.clock.now()
    await recordAudit(trx, { caller, action: 'skill.unshare', subject: skill.full_name, at })
  })
}

/** Deletes the share links that were made with revoked API keys, or assigns the links to the heir of the keys. */
export async function passOnShares(trx: WriteTransaction, { ids, withMade, heir }: RevokedKeys): Promise<void> {
  if (withMade) await trx.deleteFrom('shares').where('made_by', 'in', ids).execute()
  else await trx.updateTable('shares').set({ made_by: heir }).where('made_by', 'in', ids).execute()
}

/** Adds read access to the shared skill to a caller. Throws `not_found` for an expired or revoked link. */
export async function withShare(context: StorageContext, caller: Caller, token: string): Promise<Caller> {
  const share = await context.database.read
    .selectFrom('shares')
    .innerJoin('skills', 'skills.id', 'shares.skill_id')
    .innerJoin('users', 'users.id', 'skills.owner_id')
    .select(['shares.skill_id', 'shares.expires_at'])
    .where('token_hash', '=', hashToken(token))
    // Links of a disabled user stop working until an administrator enables the user again.
    .where('users.disabled', '=', 0)
    .executeTakeFirst()
  if (!share || share.expires_at <= context.clock.now())
    throw new RegistryError('not_found', 'This link does not exist or has expired.')
  return { ...caller, sharedSkillId: share.skill_id }
}

/** The named skill. Throws `forbidden` unless the caller may manage it: only managers may see its readers. */
async function getSharableSkill(context: StorageContext, name: string, caller: Caller): Promise<SkillRow> {
  const skill = await getSkill(context, name, caller)
  await requireRight(context.database.read, skill, caller, 'manage')
  return skill
}

function toShareLink({ id, created_at, expires_at }: ShareRow) {
  return { id, createdAt: toTimestamp(created_at), expiresAt: toTimestamp(expires_at) }
}

export async function sweepShares(writer: Writer, now: number): Promise<void> {
  await writer.write((trx) => trx.deleteFrom('shares').where('expires_at', '<=', now).execute())
}

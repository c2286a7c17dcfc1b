import { RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { callerId, type Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'

/** What the rules about seeing a skill look at. */
export type Visible = Pick<SkillRow, 'id' | 'owner_id' | 'visibility' | 'state' | 'full_name'>

/** The one rule about who may see a skill. A takedown is no secret: it throws `taken_down`. */
export async function canSee(context: Context, skill: Visible, caller: Caller): Promise<boolean> {
  switch (skill.state) {
    case 'withdrawn':
      return false
    case 'taken_down':
      if (await isReader(context, skill, caller))
        throw new RegistryError('taken_down', `${skill.full_name} is under a takedown.`)
      return false
    case 'hidden':
      return isOwner(skill, caller) || (caller.kind === 'user' && caller.role === 'admin')
    case 'live':
      return isReader(context, skill, caller)
  }
}

/**
 * Whether the caller may publish to the skill: its owner, and whom the owner lets write. A write asks it again with its
 * transaction, for a role may be taken away at the same moment.
 */
export async function canWrite(db: Kysely<Tables>, skill: Visible, caller: Caller): Promise<boolean> {
  return isOwner(skill, caller) || (await findRole(db, skill, caller)) === 'write'
}

/** Refuses everybody but the owner: a stranger who cannot see the skill learns nothing of it, one who can is told. */
export function requireOwner(skill: Visible, caller: Caller): void {
  if (!isOwner(skill, caller)) throw new RegistryError('forbidden', `Only the owner of ${skill.full_name} may do this.`)
}

export function isOwner(skill: Pick<SkillRow, 'owner_id'>, caller: Caller): boolean {
  return callerId(caller) === skill.owner_id
}

async function isReader(context: Context, skill: Visible, caller: Caller): Promise<boolean> {
  if (skill.visibility === 'public' || isOwner(skill, caller)) return true
  if (caller.kind === 'guest') return false
  return skill.visibility === 'internal' || (await findRole(context.database.read, skill, caller)) !== undefined
}

async function findRole(db: Kysely<Tables>, skill: Visible, caller: Caller): Promise<'read' | 'write' | undefined> {
  if (caller.kind === 'guest') return undefined
  const row = await db
    .selectFrom('collaborators')
    .select('role')
    .where('skill_id', '=', skill.id)
    .where('user_id', '=', caller.userId)
    .executeTakeFirst()
  return row?.role
}

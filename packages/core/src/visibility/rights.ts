import { RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { type Caller, callerId } from '../kernel/caller.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'
import { kindsByCaller } from './read-rule.ts'

/**
 * Whether the caller may publish to the skill: its owner, or a collaborator with write access. Writes repeat this check
 * in their transaction, since a role may be revoked concurrently.
 */
export async function canWrite(
  db: Kysely<Tables>,
  skill: Pick<SkillRow, 'id' | 'owner_id'>,
  caller: Caller,
): Promise<boolean> {
  if (isOwner(skill, caller)) return true
  const userId = callerId(caller)
  if (userId === null) return false
  const row = await db
    .selectFrom('collaborators')
    .select('role')
    .where('skill_id', '=', skill.id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.role === 'write'
}

/** Refuses everyone but the owner with `forbidden`. */
export function requireOwner(skill: Pick<SkillRow, 'owner_id' | 'full_name'>, caller: Caller): void {
  if (!isOwner(skill, caller)) throw new RegistryError('forbidden', `Only the owner of ${skill.full_name} may do this.`)
}

export function isOwner(skill: Pick<SkillRow, 'owner_id'>, caller: Caller): boolean {
  return callerId(caller) === skill.owner_id
}

/** Whether the caller may moderate other users' skills. */
export const isAdministrator = kindsByCaller.administrator

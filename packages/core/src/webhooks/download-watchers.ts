import type { ChangeFollower } from '../log/change-follower.ts'
import type { Database } from '../storage/database.ts'
import { toClientName, toUseKey, type UsedSkill } from '../catalogue/use-counts.ts'

/** The owners of skills who subscribe to their downloads, kept in memory: where nobody does, a use costs no more. */
export interface Watchers {
  /** What a use is counted under: with the client where the owner is to be told of it. */
  toKey(skill: UsedSkill, client: string | undefined): string
}

/**
 * Reads who watches, and reads it again when webhooks change, of other nodes within a second. What is counted in between
 * is told of all the same, by a client that is not known.
 */
export async function createWatchers({ read }: Database, changes: ChangeFollower): Promise<Watchers> {
  let ownerIds = new Set<string>()

  async function readOwners(): Promise<void> {
    const rows = await read
      .selectFrom('webhook_subscriptions')
      .select('user_id')
      .distinct()
      .where('event', '=', 'skill.downloaded')
      .execute()
    ownerIds = new Set(rows.map(({ user_id }) => user_id))
  }

  changes.follow(async (batch) => {
    if (batch.some(({ kind }) => kind === 'webhooks')) await readOwners()
  }, readOwners)
  await readOwners()
  return {
    toKey: ({ id, ownerId }, client) => (ownerIds.has(ownerId) ? toUseKey(id, toClientName(client)) : id),
  }
}

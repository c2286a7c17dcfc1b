import type { ChangeFollower } from '../log/change-follower.ts'
import type { Database } from '../storage/database.ts'
import { toClientName, toUseKey, type UsedSkill } from '../catalogue/use-counts.ts'

/**
 * The owners of skills who subscribe to downloads, cached in memory: without subscribers, counting a use costs nothing
 * extra.
 */
export interface Watchers {
  /** The counting key of a use: it includes the client if the owner is notified of uses. */
  toKey(skill: UsedSkill, client: string | undefined): string
}

/**
 * Loads the subscribers, and reloads them when webhooks change (within a second for changes on other nodes). Uses
 * counted in between are notified with an unknown client.
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

import type { EventData } from '@skillstead/protocol'
import { toPublicName } from '../catalogue/versions/skill-document.ts'
import { parseUseKey, toClientName, toUseKey, type UseCounts, type UsedSkill } from '../catalogue/context/use-counts.ts'
import { isShownToOwner } from '../visibility/decisions.ts'
import type { ChangeFollower } from '../log/change-follower.ts'
import type { Database } from '../storage/database.ts'
import type { Dialect } from '../storage/dialect.ts'
import { isInList } from '../storage/list-query.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { hasSubscribers, isAbout, selectSubscribers, type Subscriber, toDeliveries } from './events.ts'

/** A skill whose owner is notified of every use (download or install), and the webhooks that subscribe. */
export interface Watched {
  readonly skill: Pick<SkillRow, 'id' | 'name' | 'full_name' | 'holds_name' | 'downloads'>
  readonly subscribers: readonly Subscriber[]
}

/** Approximate number of deliveries per transaction, so that none blocks the event loop for long. */
const deliveriesMax = 256

/** The skills, by id, whose owners are notified of uses. */
export async function findWatched(
  trx: WriteTransaction,
  dialect: Dialect,
  skillIds: Iterable<string>,
): Promise<Map<string, Watched>> {
  if (!(await hasSubscribers(trx, 'skill.downloaded'))) return new Map()
  // Two queries instead of a join: for a join, a database may scan all skills of an owner.
  const skills = await trx
    .selectFrom('skills')
    .select(['id', 'owner_id', 'name', 'full_name', 'holds_name', 'downloads', 'state'])
    .where(isInList(dialect, 'id', skillIds))
    .execute()
  const ownerIds = new Set(skills.map(({ owner_id }) => owner_id))
  const rows = await selectSubscribers(trx, 'skill.downloaded')
    .where(isInList(dialect, 's.user_id', ownerIds))
    .execute()
  const ofOwner = Map.groupBy(rows, ({ userId }) => userId)
  const watched = skills.filter(isShownToOwner).map((skill): [string, Watched] => {
    const subscribers = ofOwner.get(skill.owner_id) ?? []
    return [skill.id, { skill, subscribers: subscribers.filter((each) => isAbout(each, skill.full_name)) }]
  })
  return new Map(watched.filter(([, { subscribers }]) => subscribers.length > 0))
}

/** Splits uses into `taken`, which one transaction counts and notifies of, and `left`. Takes at least one use. */
export function takeUses(
  uses: UseCounts,
  watched: ReadonlyMap<string, Watched>,
): { taken: UseCounts; left: UseCounts } {
  const [taken, left] = [new Map<string, number>(), new Map<string, number>()]
  let room = deliveriesMax
  for (const [key, count] of uses) {
    const deliveries = watched.get(parseUseKey(key).skillId)?.subscribers.length ?? 0
    const fitting = deliveries === 0 ? count : Math.min(count, Math.ceil(room / deliveries))
    room = Math.max(0, room - fitting * deliveries)
    if (fitting > 0) taken.set(key, fitting)
    if (fitting < count) left.set(key, count - fitting)
  }
  return { taken, left }
}

/** One delivery per use and subscriber; `downloadCount` counts up from the `downloads` of the skill. */
export function toDownloadDeliveries(uses: UseCounts, watched: ReadonlyMap<string, Watched>, at: number) {
  const jobs: ReturnType<typeof toDeliveries> = []
  const counts = new Map<string, number>()
  for (const [key, count] of uses) {
    const { skillId, client } = parseUseKey(key)
    const found = watched.get(skillId)
    if (!found) continue
    const { id, full_name: fullName, downloads } = found.skill
    const name = toPublicName(found.skill)
    const before = counts.get(id) ?? downloads
    for (let i = 1; i <= count; i++) {
      const data: EventData<'skill.downloaded'> = { skill: { id, name, fullName }, client, downloadCount: before + i }
      jobs.push(...toDeliveries(found.subscribers, 'skill.downloaded', data, at))
    }
    counts.set(id, before + count)
  }
  return jobs
}

/**
 * The owners of skills who subscribe to downloads, cached in memory: without subscribers, counting a use costs nothing
 * extra.
 */
export interface Watchers {
  /** The key under which a use is counted, with the client if the owner is notified of uses. */
  toKey(skill: UsedSkill, client: string | undefined): string
}

/**
 * Loads the subscribers, and reloads them when webhooks change (within a second for changes on other nodes). Until the
 * subscribers are reloaded, notifications to a new subscriber have an unknown client.
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

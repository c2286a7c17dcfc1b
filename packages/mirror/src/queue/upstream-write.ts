import type { Clock } from '@skillstead/core'
import {
  newId,
  type Outbox,
  type SkillSettings,
  type Tables,
  type Topic,
  type WriteTransaction,
} from '@skillstead/core/internal'
import type { Kysely } from 'kysely'
import { type UpstreamRow, type UpstreamWriteRow, withUpstreams } from '../tables/mirror-tables.ts'

/** The outbox topic of writes to upstreams. There is one job per upstream and skill with pending writes. */
export const upstreamWriteTopic: Topic<UpstreamWriteJob> = 'upstream-write'

/** The payload of an outbox job. */
export interface UpstreamWriteJob {
  readonly upstream: string
  readonly subject: string
}

export type WriteKind = UpstreamWriteRow['kind']

/** Who sends the write: the user's account at the upstream, the account of the mirror, or a guest. */
type WriteBy = 'user' | 'mirror' | 'guest'

interface Common {
  /** The skill's id on this node. */
  readonly skillId: string
  readonly by: WriteBy
  /** How many times the operator retried or renamed the write. Each time, it gets a new idempotency key. */
  readonly round?: number
}

/** The parameters of a write, by kind. Content is read when it is sent, because versions never change. */
export interface WritePayloads {
  publish: Common & {
    /** Absent if only the skill's settings changed. */
    readonly version?: string
    readonly digest?: string
    readonly settings: SkillSettings
    /** The short name that the operator chose for the skill at the upstream. */
    readonly renamedTo?: string
  }
  fork: Common & {
    readonly source: string
    readonly version: string
    readonly digest: string
    readonly renamedTo?: string
  }
  track: Common & {
    readonly count: number
    /** Number of the installs that were already sent. */
    readonly sent?: number
  }
  review: Common & { readonly rating: number; readonly title: string; readonly body: string }
  'agent-review': Common & { readonly agentKey: string; readonly rating: number; readonly content: string }
  star: Common & { readonly starred: boolean }
}

/** The parts of a registry that are needed to store a write. */
export interface WriteParts {
  readonly clock: Clock
  readonly outbox: Pick<Outbox, 'enqueue'>
}

/** The kinds of upstreams that accept writes. */
export const writableKinds: ReadonlySet<UpstreamRow['kind']> = new Set<UpstreamRow['kind']>(['node', 'registry'])

/** A new write. It is sent after all earlier writes of the same skill. */
export interface NewWrite<K extends WriteKind = WriteKind> {
  readonly upstream: Pick<UpstreamRow, 'name' | 'location'>
  readonly userId: string | null
  readonly subject: string
  readonly kind: K
  readonly payload: WritePayloads[K]
}

/** Stores a write and schedules an outbox job for its skill, in the transaction of the local change that is sent. */
export async function insertWrite<K extends WriteKind>(
  trx: WriteTransaction,
  parts: WriteParts,
  { upstream, userId, subject, kind, payload }: NewWrite<K>,
): Promise<void> {
  const newest = await withUpstreams(trx)
    .selectFrom('upstream_writes')
    .select('position')
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst()
  await withUpstreams(trx)
    .insertInto('upstream_writes')
    .values({
      id: newId(),
      position: (newest?.position ?? 0) + 1,
      upstream: upstream.name,
      user_id: userId,
      subject,
      kind,
      payload: JSON.stringify(payload),
      state: 'pending',
      attempts: 0,
      error: null,
      created_at: parts.clock.now(),
      ended_at: null,
    })
    .execute()
  await enqueueDelivery(trx, parts, { upstream, subject })
}

/** Selects the writes that publish or fork skills at an upstream, in some states. */
export function selectPublishing(
  db: Kysely<Tables>,
  upstream: string,
  states: readonly UpstreamWriteRow['state'][] = ['pending', 'conflict', 'delivered'],
) {
  return withUpstreams(db)
    .selectFrom('upstream_writes')
    .where('upstream', '=', upstream)
    .where('state', 'in', states)
    .where('kind', 'in', ['publish', 'fork'])
}

/** Schedules an outbox job for the skill's pending writes, unless one is scheduled already. */
export async function enqueueDelivery(
  trx: WriteTransaction,
  { outbox }: Pick<WriteParts, 'outbox'>,
  job: { upstream: Pick<UpstreamRow, 'name' | 'location'>; subject: string; dueAt?: number },
): Promise<void> {
  const { upstream, subject, dueAt } = job
  await outbox.enqueue(trx, {
    topic: upstreamWriteTopic,
    partition: toWritePartition(upstream.name),
    payload: { upstream: upstream.name, subject },
    uniqueKey: `${upstreamWriteTopic} ${upstream.name} ${subject}`,
    host: URL.canParse(upstream.location) ? new URL(upstream.location).host : upstream.location,
    ...(dueAt !== undefined && { dueAt }),
  })
}

/** The outbox partition of the writes to an upstream. */
export function toWritePartition(upstream: string): string {
  return `upstream ${upstream}`
}

import type { Clock } from '@skillstead/core'
import { newId, type Outbox, type SkillSettings, type WriteTransaction } from '@skillstead/core/internal'
import { type UpstreamRow, type UpstreamWriteRow, withUpstreams } from '../tables/mirror-tables.ts'

/** The outbox's topic: one job for each skill that something waits to be written to, at each upstream. */
export const upstreamWriteTopic = 'upstream-write'

/** What the job of a skill says. */
export interface UpstreamWriteJob {
  readonly upstream: string
  readonly subject: string
}

export type WriteKind = UpstreamWriteRow['kind']

/** In whose name something is written: the user's own there, the mirror's, or nobody's. */
type WriteBy = 'user' | 'mirror' | 'guest'

interface Common {
  /** The skill here. */
  readonly skillId: string
  readonly by: WriteBy
  /** How often the operator settled it: a new round is a new request. */
  readonly round?: number
}

/** What is needed to do the act again, by its kind. Content is not in it: versions never change. */
export interface WritePayloads {
  publish: Common & {
    /** Absent where only what is said of the skill changed. */
    readonly version?: string
    readonly digest?: string
    readonly settings: SkillSettings
    /** What it is to be called there, where the operator gave it another name. */
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
    /** How many of them were taken already. */
    readonly sent?: number
  }
  review: Common & { readonly rating: number; readonly title: string; readonly body: string }
  'agent-review': Common & { readonly agentKey: string; readonly rating: number; readonly content: string }
  star: Common & { readonly starred: boolean }
}

/** What writes are stored with. */
export interface WriteParts {
  readonly clock: Clock
  readonly outbox: Pick<Outbox, 'enqueue'>
}

/** Those of the kinds of upstreams that take anything. */
export const writableKinds: ReadonlySet<UpstreamRow['kind']> = new Set<UpstreamRow['kind']>(['node', 'registry'])

/** One more write, after all that there are. */
export interface NewWrite<K extends WriteKind = WriteKind> {
  readonly upstream: Pick<UpstreamRow, 'name' | 'location'>
  readonly userId: string | null
  readonly subject: string
  readonly kind: K
  readonly payload: WritePayloads[K]
}

/** Stores a write and has the outbox look after its skill, in the transaction of the act. */
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

/** Has the outbox look after what waits for a skill, unless it does already. */
export async function enqueueDelivery(
  trx: WriteTransaction,
  { outbox }: Pick<WriteParts, 'outbox'>,
  job: { upstream: Pick<UpstreamRow, 'name' | 'location'>; subject: string; dueAt?: number },
): Promise<void> {
  const { upstream, subject, dueAt } = job
  const payload: UpstreamWriteJob = { upstream: upstream.name, subject }
  await outbox.enqueue(trx, {
    topic: upstreamWriteTopic,
    lane: toWriteLane(upstream.name),
    payload: { ...payload },
    uniqueKey: `${upstreamWriteTopic} ${upstream.name} ${subject}`,
    host: toHost(upstream.location),
    ...(dueAt !== undefined && { dueAt }),
  })
}

/** The lane of the outbox in which what goes to an upstream waits. */
export function toWriteLane(upstream: string): string {
  return `upstream ${upstream}`
}

function toHost(location: string): string {
  return URL.canParse(location) ? new URL(location).host : location
}

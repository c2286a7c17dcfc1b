import { toStoredSubject } from './store/upstream-log.ts'
import type { EntryOutcome } from './applying/mirrored-types.ts'
import type { CatalogueContext, Secrets, WriteTransaction } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import { toConflict, type Lease } from './lease.ts'
import { isNameMatch } from './filters.ts'
import type { NetworkMode, SyncOptions, SyncProgress, SyncReport, Upstream } from './types.ts'
import type { UpstreamFetch } from './upstream-fetch.ts'
import { withUpstreams } from './tables/mirror-tables.ts'

/** The parts of a registry that its mirror uses. */
export interface MirrorContext extends CatalogueContext {
  /** Seals the API keys of upstreams. */
  readonly secrets: Secrets
}

/** What all upstreams of a mirror share. */
export interface MirrorParts {
  readonly context: MirrorContext
  readonly mode: NetworkMode
  /** Full or short names, `*` as wildcard, that are never asked upstream and never come from there. */
  readonly privateNames: readonly string[]
  /**
   * The way to an upstream, through the bounds and the politeness of the mirror; to be closed. `waitMs` is for each answer
   * where somebody waits: nothing is tried again then.
   */
  openFetch(upstream: Upstream, signal?: AbortSignal, waitMs?: number): UpstreamFetch
  /** The API key to read an upstream with, opened. */
  readCredential(upstream: Upstream): string | undefined
  readonly onError: (error: unknown) => void
}

/** One sync while it runs. */
export interface Run {
  readonly parts: MirrorParts
  /** As it was when the run began. */
  readonly upstream: Upstream
  readonly options: SyncOptions
  /** Ends the run: the caller, the mirror that closes, or a lease that was lost. */
  readonly signal: AbortSignal
  readonly lease: Lease
  /** The way to it; opens nothing until it is asked. */
  readonly http: UpstreamFetch
  readonly tally: Tally
  /** Whether it runs on keys that replace those stored, and so ends the alarm about them. */
  readonly replacesKeys?: boolean
  progress(progress: Omit<SyncProgress, 'upstream'>): void
}

const refusedShownMax = 100

/** What a run counts; it is changed in place. */
export class Tally {
  applied = 0
  unchanged = 0
  removed = 0
  head = 0
  bytes = 0
  refusedTotal = 0
  /**
   * How much of what is followed was asked for. Only `all` is a run as the schedule has it; after `public` it may still be
   * said how old what is here is, and after `some` of nothing but that.
   */
  extent: 'all' | 'public' | 'some' = 'all'
  readonly refused: SyncReport['refused'] = []

  /** What became of one entry or release. */
  add(subject: string, outcome: EntryOutcome): void {
    if (outcome.result === 'unchanged') this.unchanged += 1
    else if (outcome.result === 'applied') {
      this.applied += 1
      if (outcome.hid) this.removed += 1
    } else {
      this.refusedTotal += 1
      const { reason, detail } = outcome
      if (this.refused.length < refusedShownMax)
        this.refused.push({ subject: toStoredSubject(subject), reason, detail })
    }
  }
}

/** Whether a name is one that the operator keeps to this node. `name` is full or short. */
export function isPrivateName({ privateNames }: Pick<MirrorParts, 'privateNames'>, name: string): boolean {
  return privateNames.some((pattern) => isNameMatch(pattern, name))
}

/**
 * Changes the row of the upstream, in a transaction of the run. Throws `conflict` where the run no longer has it, or where
 * a condition does not hold, and so undoes the transaction; without changes it only looks for that.
 */
export async function updateOwn(
  trx: WriteTransaction,
  { upstream, lease }: Pick<Run, 'upstream' | 'lease'>,
  changes: Partial<Record<OwnColumn, string | number | Uint8Array | null>>,
  condition: Partial<Record<'staged' | 'verified' | 'applied', number>> = {},
): Promise<void> {
  const values: Record<string, unknown> = { lease: lease.id, ...changes }
  let query = withUpstreams(trx)
    .updateTable('upstreams')
    .set(values as Record<string, never>)
    .where('name', '=', upstream.name)
    .where('lease', '=', lease.id)
  for (const [column, value] of Object.entries(condition)) {
    query = query.where(column as 'staged', '=', value)
  }
  const { numUpdatedRows } = await query.executeTakeFirst()
  if (numUpdatedRows !== 1n) throw toConflict(upstream.name)
}

type OwnColumn =
  | 'account'
  | 'staged'
  | 'frontier'
  | 'verified'
  | 'checkpoint'
  | 'checkpoint_at'
  | 'applied'
  | 'cursor'
  | 'keys'
  | 'log_origin'
  | 'log_epoch'
  | 'report'
  | 'alarm'
  | 'settings'

/** What stands in the way of going on: the end of the run, in words. */
export function requireGoing({ signal, upstream }: Pick<Run, 'signal'> & { upstream: Pick<Upstream, 'name'> }): void {
  if (!signal.aborted) return
  const reason: unknown = signal.reason
  if (reason instanceof RegistryError) throw reason
  throw new RegistryError('shutting_down', `The sync of '${upstream.name}' was ended; the next one goes on from here.`)
}

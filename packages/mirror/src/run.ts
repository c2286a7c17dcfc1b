import { toStoredSubject } from './store/upstream-log.ts'
import type { MirrorOutcome } from './applying/mirrored-types.ts'
import type { CatalogueContext, Secrets, WriteTransaction } from '@skillstead/core/internal'
import { RegistryError, type PathReason } from '@skillstead/protocol'
import { toConflict, type Lease } from './lease.ts'
import { isNameMatch } from './filters.ts'
import type { NetworkMode, SyncOptions, SyncProgress, SyncReport, Upstream } from './types.ts'
import type { UpstreamFetch } from './upstream-fetch.ts'
import { type UpstreamRow, withUpstreams } from './tables/mirror-tables.ts'

/** The parts of a registry that a mirror uses. */
export interface MirrorContext extends CatalogueContext {
  /** Seals the API keys of upstreams. */
  readonly secrets: Secrets
}

/** The parts that all syncs of a mirror share. */
export interface MirrorParts {
  readonly context: MirrorContext
  readonly mode: NetworkMode
  /** Names that are never requested or imported from upstreams: full or short; `*` matches any characters. */
  readonly privateNames: readonly string[]
  /**
   * Opens the HTTP client of an upstream, with the mirror's limits and rate control; the caller closes it. `waitMs`:
   * the timeout of each response if a caller waits for the run. Failed requests are then not retried.
   */
  openFetch(upstream: Upstream, signal?: AbortSignal, waitMs?: number): UpstreamFetch
  /** The decrypted API key of the mirror for reading an upstream; undefined if it has none. */
  readCredential(upstream: Upstream): string | undefined
  readonly onError: (error: unknown) => void
}

/** One sync of one upstream, while it runs. */
export interface Run {
  readonly parts: MirrorParts
  /** The upstream's row at the start of the run. */
  readonly upstream: Upstream
  readonly options: SyncOptions
  /** Aborted when the caller cancels, the mirror closes, or the lease is lost. */
  readonly signal: AbortSignal
  readonly lease: Lease
  /** The upstream's HTTP client. It opens no socket before the first request. */
  readonly http: UpstreamFetch
  readonly tally: Tally
  /** Whether the run's keys replace the stored keys. If they verify the log, the run clears a pause about keys. */
  readonly replacesKeys?: boolean
  progress(progress: Omit<SyncProgress, 'upstream'>): void
}

const refusedShownMax = 100

/** The counters of a run, changed in place. */
export class Tally {
  applied = 0
  unchanged = 0
  removed = 0
  head = 0
  bytes = 0
  refusedTotal = 0
  /**
   * Which part of the upstream the run covers. Only `all` counts as a scheduled sync. After `public`, as after `all`,
   * the mirror records how fresh the public skills are; after `some`, it does not.
   */
  extent: 'all' | 'public' | 'some' = 'all'
  readonly refused: SyncReport['refused'] = []
  readonly omitted: SyncReport['omitted'] = []
  readonly changed: SyncReport['changed'] = []

  /** Counts the outcome of one entry or release. */
  add(subject: string, outcome: MirrorOutcome): void {
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

/** Adds reasons to one of the lists of the report, up to the list's limit. */
export function addReasons(list: PathReason[], more: readonly PathReason[]): void {
  list.push(...more.slice(0, refusedShownMax - list.length))
}

/** Whether the operator reserved a name for this node. `name` is full or short. */
export function isPrivateName({ privateNames }: Pick<MirrorParts, 'privateNames'>, name: string): boolean {
  return privateNames.some((pattern) => isNameMatch(pattern, name))
}

/**
 * Updates the upstream's row in a transaction of the run. Throws `conflict`, which rolls the transaction back, if the
 * run lost its lease or a column differs from `condition`. If `changes` is empty, only checks this.
 */
export async function updateOwn(
  trx: WriteTransaction,
  { upstream, lease }: Pick<Run, 'upstream' | 'lease'>,
  changes: Partial<Pick<UpstreamRow, OwnColumn>>,
  condition: Partial<Record<'staged' | 'verified' | 'applied', number>> = {},
): Promise<void> {
  const { numUpdatedRows } = await withUpstreams(trx)
    .updateTable('upstreams')
    .set({ lease: lease.id, ...changes })
    .where('name', '=', upstream.name)
    .where('lease', '=', lease.id)
    .where((eb) => eb.and(condition))
    .executeTakeFirst()
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

/** Throws the reason of the abort if the run was aborted. */
export function requireActive({ signal, upstream }: Pick<Run, 'signal'> & { upstream: Pick<Upstream, 'name'> }): void {
  if (!signal.aborted) return
  const reason: unknown = signal.reason
  if (reason instanceof RegistryError) throw reason
  throw new RegistryError(
    'shutting_down',
    `The sync of '${upstream.name}' was stopped. The next sync continues from here.`,
  )
}

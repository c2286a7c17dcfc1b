import { toRegistryError } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import { SyncAlarm, acceptAlarm, raiseAlarm, replacesKeys, toAcceptedKeys, toPausedError } from './alarms.ts'
import { requireVerifierKey } from './settings.ts'
import { takeLease, toConflict, type Lease } from './lease.ts'
import { Tally, requireActive, updateOwn, type MirrorParts, type Run } from './run.ts'
import { getUpstream, type StoredReport } from './store/upstreams.ts'
import type { Alarm, SyncOptions, SyncReport, Upstream } from './types.ts'

export interface SyncOrder {
  readonly name: string
  readonly options: SyncOptions
  /** The verifier keys with which to accept a bundle, in place of the single `key` of the options. */
  readonly keys?: readonly string[] | undefined
  /** Aborting this signal ends the run. */
  readonly signal: AbortSignal
  /** The engine for the upstream's kind. */
  engine(run: Run): Promise<void>
  onAlarm(alarm: Alarm): void
  /**
   * Whether the upstream still needs a sync. Checked when this run has the lease, because another node may just have
   * synced the upstream. Default: it needs one.
   */
  readonly isWanted?: ((upstream: Upstream) => boolean) | undefined
}

/**
 * Runs one sync: takes the lease, lets the engine import, and stores the report or the error. Throws `not_found`,
 * `conflict` if another run syncs the upstream or its sync is paused, and the errors of the engine.
 */
export async function runSync(parts: MirrorParts, order: SyncOrder): Promise<SyncReport> {
  const { context } = parts
  const { name } = order
  const options = {
    ...order.options,
    allowRemovals: order.options.allowRemovals || order.options.accept === 'mass_removal',
  }
  await getUpstream(context.database.read, name)
  const callerSignal = AbortSignal.any([order.signal, ...(options.signal ? [options.signal] : [])])
  const lease = await takeLease(context, name, callerSignal).catch((error: unknown) => {
    requireActive({ signal: callerSignal, upstream: { name } })
    throw error
  })
  const ending = AbortSignal.any([callerSignal, lease.lost])
  const startedMs = performance.now()
  const upstream = await getUpstream(context.database.read, name).catch(releaseAndRethrow(lease))
  if (order.isWanted?.(upstream) === false) {
    await lease.release()
    throw toConflict(name)
  }
  const http = parts.openFetch(upstream, ending)
  const run: Run = {
    parts,
    upstream,
    options,
    lease,
    http,
    signal: ending,
    tally: new Tally(),
    progress: (progress) => options.onProgress?.({ upstream: name, ...progress }),
  }
  let problem: unknown
  try {
    const begun = { ...run, ...(await prepareSync(run, order.keys)) }
    await order.engine(begun)
  } catch (error) {
    problem = await handleError(run, error, order)
  } finally {
    await http.close()
  }
  const report = toSyncReport(run, performance.now() - startedMs)
  await lease.release(toStored(run, report, problem)).catch((error: unknown) => (problem ??= error))
  if (problem !== undefined) throw problem
  return report
}

/** Throws if the sync is paused for a reason that is not accepted. Else accepts it, and returns the stored upstream. */
async function prepareSync(run: Run, bundleKeys: SyncOrder['keys']): Promise<Pick<Run, 'upstream' | 'replacesKeys'>> {
  const { parts, upstream, options } = run
  const { read, writer } = parts.context.database
  const { alarm, name } = upstream
  const accepted = options.accept ?? (options.allowRemovals ? 'mass_removal' : undefined)
  if (alarm && alarm.code !== accepted) throw toPausedError(upstream, alarm)
  if (options.key !== undefined) requireKeyAlarm(upstream, options.key)
  if (!alarm && !options.full) return { upstream }
  const given = bundleKeys ?? (options.key === undefined ? undefined : [options.key])
  const keys = alarm && replacesKeys(alarm.code) ? toAcceptedKeys(upstream, alarm, given) : undefined
  await writer.write(async (trx) => {
    if (alarm) await acceptAlarm(trx, run, alarm.code)
    if (options.full) await updateOwn(trx, run, { applied: 0, cursor: 'null' })
  })
  const begun = await getUpstream(read, name)
  if (!keys) return { upstream: begun }
  const settings = { ...begun.settings, pinned: begun.settings.pinned || given !== undefined }
  return { upstream: { ...begun, keys: [...keys], settings }, replacesKeys: true }
}

/**
 * Rejects a key if the sync is not paused over its key: the key would have no effect, and the operator could believe
 * that it was pinned. Throws `invalid_request`.
 */
function requireKeyAlarm({ name, alarm }: Upstream, key: string): void {
  requireVerifierKey(key)
  if (alarm && replacesKeys(alarm.code)) return
  const detail = `'${name}' is not paused over its key. Run \`mirror set ${name} --key\` to pin another one.`
  throw new RegistryError('invalid_request', detail)
}

/**
 * Converts an error of the engine to the error that the caller gets. If it is a pause, stores the pause. An abort by
 * the caller does not count as a failure of the upstream.
 */
async function handleError(run: Run, error: unknown, { onAlarm }: SyncOrder): Promise<unknown> {
  try {
    if (error instanceof SyncAlarm) {
      const alarm = await raiseAlarm(run, error)
      onAlarm(alarm)
      return toPausedError(run.upstream, alarm)
    }
    requireActive(run)
    return toRegistryError(error)
  } catch (other) {
    return toRegistryError(other)
  }
}

function toSyncReport({ upstream, tally, http }: Run, durationMs: number): SyncReport {
  const { extent: _, ...counts } = tally
  return { ...counts, upstream: upstream.name, requests: http.requests, durationMs: Math.round(durationMs) }
}

function toStored({ parts, upstream, tally }: Run, report: SyncReport, problem: unknown) {
  const now = parts.context.clock.now()
  const code = problem instanceof RegistryError ? problem.code : 'internal'
  const error =
    problem === undefined
      ? null
      : {
          code,
          message:
            problem instanceof RegistryError
              ? problem.message
              : 'The sync failed with an internal error. The log of this node has the details.',
          at: now,
        }
  const stored: StoredReport = { last: problem === undefined ? report : upstream.report, error }
  return {
    report: JSON.stringify(stored),
    // A run for a read request does not postpone the scheduled sync, which imports more.
    ...(tally.extent === 'all' && { tried_at: now }),
    ...(tally.extent !== 'some' && problem === undefined && { synced_at: now }),
  }
}

function releaseAndRethrow(lease: Lease) {
  return async (error: unknown): Promise<never> => {
    await lease.release()
    throw error
  }
}

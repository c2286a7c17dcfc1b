import { toRegistryError } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import { SyncAlarm, acceptAlarm, raiseAlarm, replacesKeys, toAcceptedKeys, toPausedError } from './alarms.ts'
import { requireVerifierKey } from './settings.ts'
import { takeLease, toConflict, type Lease } from './lease.ts'
import { Tally, requireGoing, updateOwn, type MirrorParts, type Run } from './run.ts'
import { getUpstream, type StoredReport } from './store/upstreams.ts'
import type { Alarm, SyncOptions, SyncReport, Upstream } from './types.ts'

export interface SyncOrder {
  readonly name: string
  readonly options: SyncOptions
  /** The verifier keys that a bundle is accepted with, in place of the single `key` of the options. */
  readonly keys?: readonly string[] | undefined
  /** Ends the run. */
  readonly signal: AbortSignal
  /** Syncs, in whatever way is right for the upstream. */
  engine(run: Run): Promise<void>
  onAlarm(alarm: Alarm): void
  /** Whether the upstream, as it is once this run has it, is still to be synced: another node may just have done it. */
  readonly isWanted?: ((upstream: Upstream) => boolean) | undefined
}

/**
 * One sync from its lease to its report: both are stored whatever becomes of it. Throws `not_found`, `conflict` for an
 * upstream that another run has or that is paused, and what the engine throws.
 */
export async function runSync(parts: MirrorParts, order: SyncOrder): Promise<SyncReport> {
  const { context } = parts
  const { name } = order
  const options = {
    ...order.options,
    allowRemovals: order.options.allowRemovals || order.options.accept === 'mass_removal',
  }
  await getUpstream(context.database.read, name)
  const asked = AbortSignal.any([order.signal, ...(options.signal ? [options.signal] : [])])
  const lease = await takeLease(context, name, asked).catch((error: unknown) => {
    requireGoing({ signal: asked, upstream: { name } })
    throw error
  })
  const ending = AbortSignal.any([asked, lease.lost])
  const startedMs = performance.now()
  const upstream = await getUpstream(context.database.read, name).catch(giveBack(lease))
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
    const begun = { ...run, ...(await prepare(run, order.keys)) }
    await order.engine(begun)
  } catch (error) {
    problem = await settle(run, error, order)
  } finally {
    await http.close()
  }
  const report = toReport(run, performance.now() - startedMs)
  await lease.release(toStored(run, report, problem)).catch((error: unknown) => (problem ??= error))
  if (problem !== undefined) throw problem
  return report
}

/** Looks whether it may go on, and from where. */
async function prepare(run: Run, bundleKeys: SyncOrder['keys']): Promise<Pick<Run, 'upstream' | 'replacesKeys'>> {
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

/** A key that would do nothing must not seem to be pinned. Throws `invalid_request`. */
function requireKeyAlarm({ name, alarm }: Upstream, key: string): void {
  requireVerifierKey(key)
  if (alarm && replacesKeys(alarm.code)) return
  const detail = `'${name}' is not paused over its key. Run \`mirror set ${name} --key\` to pin another one.`
  throw new RegistryError('invalid_request', detail)
}

/** What is told of an error: an alarm is kept, and an end that was asked for is no failure of the upstream. */
async function settle(run: Run, error: unknown, { onAlarm }: SyncOrder): Promise<unknown> {
  try {
    if (error instanceof SyncAlarm) {
      const alarm = await raiseAlarm(run, error)
      onAlarm(alarm)
      return toPausedError(run.upstream, alarm)
    }
    requireGoing(run)
    return toRegistryError(error)
  } catch (other) {
    return toRegistryError(other)
  }
}

function toReport({ upstream, tally, http }: Run, durationMs: number): SyncReport {
  const { applied, unchanged, removed, head, bytes, refused, refusedTotal } = tally
  return {
    upstream: upstream.name,
    applied,
    requests: http.requests,
    head,
    unchanged,
    refused,
    refusedTotal,
    removed,
    bytes,
    durationMs: Math.round(durationMs),
  }
}

function toStored({ parts, upstream, tally }: Run, report: SyncReport, problem: unknown) {
  const now = parts.context.clock.now()
  const code = problem instanceof RegistryError ? problem.code : 'internal'
  const error = problem === undefined ? null : { code, message: toMessage(problem), at: now }
  const stored: StoredReport = { last: problem === undefined ? report : upstream.report, error }
  return {
    report: JSON.stringify(stored),
    // What readers cause puts off no run of the schedule, which brings more.
    ...(tally.extent === 'all' && { tried_at: now }),
    ...(tally.extent !== 'some' && problem === undefined && { synced_at: now }),
  }
}

function toMessage(problem: unknown): string {
  return problem instanceof RegistryError ? problem.message : 'Something went wrong on this side; the log has more.'
}

function giveBack(lease: Lease) {
  return async (error: unknown): Promise<never> => {
    await lease.release()
    throw error
  }
}

import type { WriteTransaction } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import { updateOwn, type Run } from './run.ts'
import type { Alarm, AlarmCode, Upstream } from './types.ts'
import { emptyLog } from './store/upstreams.ts'
import { withUpstreams } from './tables/mirror-tables.ts'

/** Thrown by a run to end it and to pause the sync of its upstream. Imported skills remain available. */
export class SyncAlarm extends Error {
  override readonly name = 'SyncAlarm'
  readonly code: AlarmCode
  /** The verifier keys that the upstream offers in place of the trusted keys. */
  readonly keys: readonly string[]

  constructor(code: AlarmCode, message: string, keys: readonly string[] = []) {
    super(message)
    this.code = code
    this.keys = keys
  }
}

/** Stores the pause reason with the upstream, and emits it to the administrators' webhooks, in one transaction. */
export async function raiseAlarm(run: Run, { code, message, keys }: SyncAlarm): Promise<Alarm> {
  const { context } = run.parts
  const { name, alarm: accepted } = run.upstream
  const needsKey = replacesKeys(code) && accepted !== null && isOtherOffer(accepted, keys)
  const alarm: Alarm = { code, message, at: context.clock.now(), keys: [...keys], ...(needsKey && { needsKey }) }
  await context.database.writer.write(async (trx) => {
    await updateOwn(trx, run, { alarm: JSON.stringify(alarm) })
    const data = { upstream: { name, location: run.upstream.location }, alarm: { code, message } }
    await context.events.emit(trx, { event: 'mirror.alarm', data: () => data, administrators: true })
  })
  return alarm
}

/** Whether the upstream now offers `keys` that were not in the pause that the operator accepted before. */
function isOtherOffer({ code, keys: seen = [], needsKey = false }: Alarm, keys: readonly string[]): boolean {
  return replacesKeys(code) && (needsKey || keys.some((key) => !seen.includes(key)))
}

/** The error for a run that pauses the sync, or that cannot start because the sync is paused. */
export function toPausedError(
  { name, kind }: Pick<Upstream, 'name' | 'kind'>,
  { code, message, keys = [] }: Pick<Alarm, 'code' | 'message' | 'keys'>,
): RegistryError {
  const command = `${toSyncCommand({ name, kind })} ${toAcceptOptions({ code, keys })}`
  const detail = `The sync of '${name}' is paused (${code}): ${message} Skills imported before remain available. To continue after checking, run \`skillstead ${command}\`.`
  return new RegistryError('conflict', detail)
}

/** The command that syncs an upstream, without the name of the program. */
export function toSyncCommand({ name, kind }: Pick<Upstream, 'name' | 'kind'>): string {
  return kind === 'bundle' ? `bundle import FILE --name ${name}` : `mirror sync ${name}`
}

/**
 * The command line options that accept a pause reason. They name the offered key, so repeating the command later
 * accepts no other key.
 *
 * @example
 * toAcceptOptions({ code: 'fork' }) // '--accept fork'
 */
export function toAcceptOptions({ code, keys = [] }: Pick<Alarm, 'code' | 'keys'>): string {
  return replacesKeys(code) ? `--accept ${code} --key ${toArgument(keys)}` : `--accept ${code}`
}

/**
 * The first of the keys, for a command that people copy into a shell. `VKEY` if it has characters that a shell could
 * interpret, because the upstream chooses the names of its keys.
 */
function toArgument([key = '']: readonly string[]): string {
  return /^[\w.:+/=-]+$/.test(key) ? key : 'VKEY'
}

/** What happens when the operator accepts a pause reason. */
interface Acceptance {
  /** The mirror reads the log again from its beginning, and compares it with the imported skills. */
  readonly forgets?: 'log' | 'log and name'
  /** The keys offered with the pause replace the trusted keys once they have verified the log. */
  readonly replacesKeys?: boolean
}

const acceptances: Readonly<Record<AlarmCode, Acceptance>> = {
  rollback: { forgets: 'log' },
  fork: { forgets: 'log' },
  epoch: { forgets: 'log' },
  origin: { forgets: 'log and name', replacesKeys: true },
  key: { replacesKeys: true },
  // No stored data changes: the next sync checks again.
  altered: {},
  freeze: {},
  future: {},
  mass_removal: {},
}

/** Whether a pause reason is about the keys whose signatures are trusted. */
export function replacesKeys(code: AlarmCode): boolean {
  return acceptances[code].replacesKeys === true
}

/**
 * The keys to trust after a pause about keys: the keys that the operator passed, else the keys that the upstream
 * offered when the sync paused. Keys that it offered later may belong to an attacker. Throws `invalid_request` if the
 * operator must pass a key.
 */
export function toAcceptedKeys(
  { name, keys, settings }: Pick<Upstream, 'name' | 'keys' | 'settings'>,
  alarm: Alarm,
  given: readonly string[] | undefined,
): readonly string[] {
  if (given) return given
  const { keys: offered = [], needsKey = false } = alarm
  // If the upstream offered no key, the trusted keys stay. The next sync checks whether they sign the log.
  if (offered.length === 0) return keys
  const pinnedSince = keys.filter((key) => offered.includes(key))
  if (pinnedSince.length > 0) return pinnedSince
  if (!settings.pinned && !needsKey) return offered
  const why = settings.pinned ? `The key of '${name}' was pinned.` : `'${name}' has offered different keys.`
  const detail = `${why} Compare the new key with its operator, and pass it with --key ${toArgument(offered)}`
  throw new RegistryError('invalid_request', `${detail}.`)
}

/**
 * Accepts a pause in a transaction: clears its reason, and deletes the stored log that the reason contradicts. The
 * reason stays if it is about keys: only a run whose keys verified the log clears it.
 */
export async function acceptAlarm(
  trx: WriteTransaction,
  run: Pick<Run, 'upstream' | 'lease'>,
  code: AlarmCode,
): Promise<void> {
  const { upstream } = run
  const { forgets } = acceptances[code]
  if (!replacesKeys(code)) await updateOwn(trx, run, { alarm: null })
  if (forgets) {
    await withUpstreams(trx).deleteFrom('upstream_log').where('upstream', '=', upstream.name).execute()
    await withUpstreams(trx).deleteFrom('upstream_tiles').where('upstream', '=', upstream.name).execute()
    await updateOwn(trx, run, { ...emptyLog, ...(forgets === 'log and name' && { log_origin: null }) })
  }
}

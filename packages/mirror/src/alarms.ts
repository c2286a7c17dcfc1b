import type { WriteTransaction } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import { updateOwn, type Run } from './run.ts'
import type { Alarm, AlarmCode, Upstream } from './types.ts'
import { emptyLog } from './store/upstreams.ts'
import { withUpstreams } from './tables/mirror-tables.ts'

/** Thrown to end a run and pause the sync of an upstream. Imported skills remain available. */
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

/** Whether the upstream offers other keys than those in the pause that the operator accepted. */
function isOtherOffer({ code, keys: seen = [], needsKey = false }: Alarm, keys: readonly string[]): boolean {
  return replacesKeys(code) && (needsKey || keys.some((key) => !seen.includes(key)))
}

/** The error of a sync that is paused or cannot start because of a pause. */
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
 * The first key, for a command that people copy into a shell. The upstream chooses its keys' names, so a name with
 * other characters is replaced.
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
  // Nothing else to do: the next sync checks again.
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
 * The keys to trust after a pause about keys: those that the operator passed, else those offered when the sync paused.
 * Keys offered later may belong to someone else. Throws `invalid_request` if the operator must pass a key.
 */
export function toAcceptedKeys(
  { name, keys, settings }: Pick<Upstream, 'name' | 'keys' | 'settings'>,
  alarm: Alarm,
  given: readonly string[] | undefined,
): readonly string[] {
  if (given) return given
  const { keys: offered = [], needsKey = false } = alarm
  // If the upstream offered no key, the trusted keys stay. The next sync checks whether they sign.
  if (offered.length === 0) return keys
  const pinnedSince = keys.filter((key) => offered.includes(key))
  if (pinnedSince.length > 0) return pinnedSince
  if (!settings.pinned && !needsKey) return offered
  const why = settings.pinned ? `The key of '${name}' was pinned.` : `'${name}' has offered different keys.`
  const detail = `${why} Compare the new key with its operator, and pass it with --key ${toArgument(offered)}`
  throw new RegistryError('invalid_request', `${detail}.`)
}

/**
 * Clears a pause reason in a transaction, and deletes the stored log that it contradicts. A pause about keys is cleared
 * only by a run whose keys verified the log.
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

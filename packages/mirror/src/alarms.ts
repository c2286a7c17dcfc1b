import type { WriteTransaction } from '@skillstead/core'
import { RegistryError } from '@skillstead/protocol'
import { updateOwn, type Run } from './run.ts'
import type { Alarm, AlarmCode, Upstream } from './types.ts'

/** Something about an upstream that a run must not go on from. What came in before goes on serving. */
export class SyncAlarm extends Error {
  override readonly name = 'SyncAlarm'
  readonly code: AlarmCode

  constructor(code: AlarmCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Keeps the alarm with the upstream, and tells the administrators' webhooks of it, in one transaction. */
export async function raiseAlarm(run: Run, { code, message }: SyncAlarm): Promise<Alarm> {
  const { registry } = run.parts
  const { name } = run.upstream
  const alarm: Alarm = { code, message, at: registry.clock.now() }
  await registry.database.writer.write(async (trx) => {
    await updateOwn(trx, run, { alarm: JSON.stringify(alarm) })
    const data = { upstream: { name, location: run.upstream.location }, alarm: { code, message } }
    await registry.events.emit(trx, { event: 'mirror.alarm', data: () => data, administrators: true })
  })
  return alarm
}

/** The error of a run that ends with an alarm, or that one keeps from beginning. */
export function toStandstill(
  { name, kind }: Pick<Upstream, 'name' | 'kind'>,
  { code, message }: Pick<Alarm, 'code' | 'message'>,
): RegistryError {
  const command = kind === 'bundle' ? `bundle import FILE --name ${name}` : `mirror sync ${name}`
  const detail = `The sync of '${name}' stands still (${code}): ${message} What came in before goes on serving. When you have looked into it, go on with \`skillstead ${command} --accept ${code}\`.`
  return new RegistryError('conflict', detail)
}

/** What it means to go on from an alarm. */
interface Acceptance {
  /** The log is read anew from its beginning, and what is here already is compared with it. */
  readonly forgets?: 'log' | 'log and name'
  /** The keys it signs with now are believed from then on. */
  readonly forgetsKeys?: boolean
}

const acceptances: Readonly<Record<AlarmCode, Acceptance>> = {
  rollback: { forgets: 'log' },
  fork: { forgets: 'log' },
  epoch: { forgets: 'log' },
  origin: { forgets: 'log and name', forgetsKeys: true },
  key: { forgetsKeys: true },
  // The next run looks once more.
  altered: {},
  freeze: {},
  future: {},
  mass_removal: {},
}

/** Takes an alarm away, in a transaction, and with it what the upstream is no longer to be held to. */
export async function acceptAlarm(
  trx: WriteTransaction,
  run: Pick<Run, 'upstream' | 'lease'>,
  code: AlarmCode,
): Promise<void> {
  const { upstream } = run
  const { forgets, forgetsKeys } = acceptances[code]
  await updateOwn(trx, run, { alarm: null })
  if (forgets) {
    await trx.deleteFrom('upstream_log').where('upstream', '=', upstream.name).execute()
    await trx.deleteFrom('upstream_tiles').where('upstream', '=', upstream.name).execute()
    await updateOwn(trx, run, {
      staged: 0,
      frontier: Buffer.alloc(0),
      verified: 0,
      applied: 0,
      checkpoint: null,
      checkpoint_at: null,
      log_epoch: null,
      ...(forgets === 'log and name' && { log_origin: null }),
    })
  }
  if (forgetsKeys) {
    const settings: Upstream['settings'] = { ...upstream.settings, pinned: false }
    await updateOwn(trx, run, { keys: '[]', settings: JSON.stringify(settings) })
  }
}

import type { BackupPlan } from '@skillstead/maintenance'
import { UsageError, text, type Arguments, type Option } from '../command/command.ts'

/** Options for scheduled backups by a node. */
export const backupOptions: Record<string, Option> = {
  'backup-every': {
    value: 'TIME',
    help: 'copy the registry into DIR/backups at this interval, such as 6h or 1d (or SKILLSTEAD_BACKUP_EVERY)',
    env: 'SKILLSTEAD_BACKUP_EVERY',
  },
  'backups-kept': {
    value: 'N',
    help: 'the number of copies to retain. Default: 7 (or SKILLSTEAD_BACKUPS_KEPT)',
    env: 'SKILLSTEAD_BACKUPS_KEPT',
  },
}

const keptDefault = 7
const minuteMs = 60_000
const units: Readonly<Record<string, number>> = {
  m: minuteMs,
  h: 60 * minuteMs,
  d: 1440 * minuteMs,
  w: 10_080 * minuteMs,
}
const everyMaxMs = 366 * units['d']!

/**
 * The backup plan of the options; undefined without one. Throws {@link UsageError} for invalid values, and for
 * PostgreSQL.
 */
export function toBackupPlan(given: Arguments): BackupPlan | undefined {
  const [every, kept] = [text(given, 'backup-every'), text(given, 'backups-kept')]
  if (every === undefined) {
    if (kept === undefined) return undefined
    throw new UsageError('--backups-kept needs --backup-every. Pass both.')
  }
  if (text(given, 'data') === undefined) {
    throw new UsageError(
      '--backup-every works with --data only. For PostgreSQL run pg_dump or `skillstead export` on a timer.',
    )
  }
  return { everyMs: toMs(every), kept: toKept(kept) }
}

function toMs(given: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([mhdw])$/.exec(given) ?? []
  const ms = Number(number) * (units[unit] ?? 0)
  if (ms >= minuteMs && ms <= everyMaxMs) return ms
  throw new UsageError(`'${given}' is not a backup interval. Use a time such as 30m, 6h, 1d or 1w.`)
}

function toKept(given = `${keptDefault}`): number {
  if (/^[1-9]\d{0,5}$/.test(given)) return Number(given)
  throw new UsageError(`'${given}' is not a number of backups. Use 1 or more.`)
}

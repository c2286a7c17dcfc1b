import type { BackupPlan } from '@skillstead/core'
import { UsageError, text, type Arguments, type Option } from './command.ts'

/** When a node copies its registry by itself. */
export const backupOptions: Record<string, Option> = {
  'backup-every': {
    value: 'TIME',
    help: 'copies the registry into DIR/backups as often, as in 6h or 1d (or SKILLSTEAD_BACKUP_EVERY)',
    env: 'SKILLSTEAD_BACKUP_EVERY',
  },
  'backups-kept': {
    value: 'N',
    help: 'how many of those copies are kept: 7 unless it is said (or SKILLSTEAD_BACKUPS_KEPT)',
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

/** The plan that the options say; undefined for none. Throws {@link UsageError} for what cannot be read, or kept. */
export function toBackupPlan(given: Arguments): BackupPlan | undefined {
  const [every, kept] = [text(given, 'backup-every'), text(given, 'backups-kept')]
  if (every === undefined) {
    if (kept === undefined) return undefined
    throw new UsageError('--backups-kept says how many are kept of what --backup-every makes: give that too.')
  }
  if (text(given, 'data') === undefined) {
    throw new UsageError(
      '--backup-every copies files, and a PostgreSQL database has tools of its own: run pg_dump by a timer, or `skillstead export`.',
    )
  }
  return { everyMs: toMs(every), kept: toKept(kept) }
}

function toMs(given: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([mhdw])$/.exec(given) ?? []
  const ms = Number(number) * (units[unit] ?? 0)
  if (ms >= minuteMs && ms <= everyMaxMs) return ms
  throw new UsageError(`'${given}' is no time between backups: write it as 30m, 6h, 1d or 1w.`)
}

function toKept(given = `${keptDefault}`): number {
  if (/^[1-9]\d{0,5}$/.test(given)) return Number(given)
  throw new UsageError(`'${given}' is no number of backups: 1 or more is needed.`)
}

import type { ExtensionDefinition } from '@skillstead/core/internal'
import { addBackup, findBackupFolder, readBackups, recordBackup } from './backup/backup-files.ts'
import {
  checkPlan,
  readBackupMetrics,
  readSchedule,
  scheduleBackups,
  type BackupPlan,
} from './backup/backup-schedule.ts'
import { collectGarbage } from './collect-garbage.ts'

export type { BackupPlan } from './backup/backup-schedule.ts'

/** Options of the maintenance extension. */
export interface MaintenanceOptions {
  /** Scheduled copies of the SQLite file into the folder `backups` next to it. Default: none. */
  readonly backups?: BackupPlan | undefined
}

/**
 * Adds backups to a registry, on request and on schedule, and the complete daily deletion of unreferenced data. Throws
 * a TypeError for an invalid plan.
 *
 * @example
 * const plan = { everyMs: 24 * 60 * 60 * 1000, backupsMax: 7 }
 * const registry = await openRegistry({ path: 'skills.db', extensions: [maintenanceExtension({ backups: plan })] })
 */
export function maintenanceExtension({ backups: plan }: MaintenanceOptions = {}): ExtensionDefinition {
  if (plan) checkPlan(plan)
  return {
    name: '@skillstead/maintenance',
    migrations: [],
    tables: {},
    connect: (parts) => ({
      collectGarbage: () => collectGarbage(parts),
      backups: {
        async list() {
          const folder = findBackupFolder(parts.database)
          if (folder === undefined) return { backups: [], total: 0, folder: null, schedule: null }
          const backups = await readBackups(folder)
          return { backups, total: backups.length, folder, schedule: await readSchedule(parts, plan) }
        },
        async create(caller) {
          const made = await addBackup(parts, false)
          await recordBackup(parts, caller, made)
          return { ...made, verified: true }
        },
        schedule: () => scheduleBackups(parts, plan),
        readMetrics: () => readBackupMetrics(parts, plan),
      },
    }),
  }
}

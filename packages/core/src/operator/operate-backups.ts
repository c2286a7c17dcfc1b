import type { Caller } from '../kernel/caller.ts'
import type { OperatorContext } from './operator-context.ts'
import { addBackup, findFolder, readBackups, recordBackup } from './backup-files.ts'
import { readSchedule } from './scheduled-backups.ts'

/** GET /operator/backups: newest first. */
export async function listBackups(context: OperatorContext) {
  const folder = findFolder(context.database)
  if (folder === undefined) return { backups: [], total: 0, folder: null, schedule: null }
  const backups = await readBackups(folder)
  return { backups, total: backups.length, folder, schedule: await readSchedule(context) }
}

/**
 * POST /operator/backups: copies the registry to the folder `backups` next to its file. Throws `not_implemented` if the
 * database is not a file, `conflict` while another backup is being made.
 */
export async function createBackup(context: OperatorContext, _input: object, caller: Caller) {
  const made = await addBackup(context, false)
  await recordBackup(context, caller, made)
  return { ...made, verified: true as const }
}

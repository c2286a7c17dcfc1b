import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import { RegistryError } from '@skillstead/protocol'
import { patientOptions, type Ask } from './ask.ts'

interface BackupParts {
  readonly baseUrl: string
  readonly apiKey: string
  readonly ask: Ask
  /** Returns the versions published so far. */
  readonly listVersions: () => string[]
}

/** A backup that the node reported as done. */
export interface KnownBackup {
  readonly name: string
  /** The versions that were published before the backup started. */
  readonly versions: readonly string[]
}

/** The operator deletes older backups beyond this number. */
const retainedMax = 3

/** An operator who makes backups while the rest of the load continues. */
export function createBackups({ baseUrl, apiKey, ask, listVersions }: BackupParts) {
  const api = createClient({ baseUrl, apiKey, ...patientOptions })
  const made: KnownBackup[] = []
  const counts = { backups: 0 }
  return {
    made,
    counts,
    pausesMs: 8000,
    async act(): Promise<void> {
      const versions = listVersions()
      const outcome = await ask.write('making a backup', () => api.createBackup().catch(passConflict))
      if (outcome.kind !== 'done' || outcome.value === undefined) return
      made.push({ name: outcome.value.name, versions })
      counts.backups += 1
      if (made.length <= retainedMax) return
      const { folder } = await ask.read('the backups', () => api.listBackups())
      await rm(join(folder!, made.shift()!.name))
    },
  }
}

/** Ignores the conflict that the node returns while its scheduled backup runs. */
function passConflict(error: unknown): undefined {
  if (!(error instanceof RegistryError) || error.code !== 'conflict') throw error
}

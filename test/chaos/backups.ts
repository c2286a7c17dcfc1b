import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import { RegistryError } from '@skillstead/protocol'
import { patient, type Ask } from './ask.ts'

interface BackupParts {
  readonly baseUrl: string
  readonly apiKey: string
  readonly ask: Ask
  /** What is published by now. */
  readonly listVersions: () => string[]
}

/** A copy that a node said it made. */
export interface KnownBackup {
  readonly name: string
  /** What was published before it was begun. */
  readonly versions: readonly string[]
}

/** So many of his copies he keeps. */
const keptMax = 3

/** An operator who has copies made while everything else goes on. */
export function createBackups({ baseUrl, apiKey, ask, listVersions }: BackupParts) {
  const api = createClient({ baseUrl, apiKey, ...patient })
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
      if (made.length <= keptMax) return
      const { folder } = await ask.read('the backups', () => api.listBackups())
      await rm(join(folder!, made.shift()!.name))
    },
  }
}

/** The node makes one by itself just then. */
function passConflict(error: unknown): undefined {
  if (!(error instanceof RegistryError) || error.code !== 'conflict') throw error
}

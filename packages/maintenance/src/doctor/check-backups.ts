import { findPartialFiles } from '@skillstead/core/internal'
import type { Check } from './finding.ts'

/** Copies that were interrupted take room, and are no fault of the registry. */
export const backupsCheck: Check = {
  name: 'backups',
  async run({ database, clock }) {
    const files = await findPartialFiles(database, clock.now())
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    const detail =
      files.length === 0
        ? 'No interrupted backup lies about.'
        : `${files.length} interrupted backups take ${Math.ceil(bytes / 1024 / 1024)} MiB: skillstead gc removes them.`
    return { ok: true, detail }
  },
}

import { findPartialFiles } from '../backup/place-file.ts'
import type { Check } from './finding.ts'

/** Reports files of interrupted backups: they take space but are not a fault of the registry. */
export const backupsCheck: Check = {
  name: 'backups',
  async run({ database, clock }) {
    const files = await findPartialFiles(database, clock.now())
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    const detail =
      files.length === 0
        ? 'There are no interrupted backups.'
        : `${files.length} interrupted backups take ${Math.ceil(bytes / 1024 / 1024)} MiB. skillstead gc removes them.`
    return { ok: true, detail }
  },
}

import { dirname } from 'node:path'
import { createStaging, type FolderChange, type Staging } from './staging.ts'

/**
 * Replaces folders of skills, all or none. Everything is written beside them first; then they are swapped by renaming,
 * and `commit` writes the lock. Whatever goes wrong on the way is taken back; after a kill, `recover` does it.
 */
export async function replaceFolders(changes: readonly FolderChange[], commit: () => Promise<void>): Promise<void> {
  const stagings = new Map<string, Staging>()
  try {
    for (const change of changes) {
      const parent = dirname(change.path)
      const staging = stagings.get(parent) ?? createStaging(parent)
      stagings.set(parent, staging)
      await staging.add(change)
    }
    const all = [...stagings.values()]
    for (const staging of all) staging.seal()
    for (const staging of all) staging.swap()
    await commit()
  } catch (error) {
    for (const staging of stagings.values()) staging.undo()
    throw error
  } finally {
    for (const staging of stagings.values()) closeQuietly(staging)
  }
}

/** What is left of it is cleared away the next time. */
function closeQuietly(staging: Staging): void {
  try {
    staging.close()
  } catch {}
}

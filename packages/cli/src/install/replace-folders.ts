import { attempt, toErrorText } from '@skillstead/protocol'
import { dirname } from 'node:path'
import { createStaging, type FolderChange, type Staging } from './staging.ts'

/**
 * Replaces folders of skills, all or none. New content is first written to staging folders and then swapped in by
 * renaming; `commit` writes the lock. On any error the swap is undone; after a kill, the next command finishes or
 * undoes the swap. Former content that cannot be restored is not deleted.
 */
export async function replaceFolders(changes: readonly FolderChange[], commit: () => Promise<void>): Promise<void> {
  const stagings = new Map<string, Staging>()
  const stuck = new Map<Staging, string[]>()
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
    for (const staging of all) await staging.check()
    await commit()
  } catch (error) {
    for (const staging of stagings.values()) {
      const left = staging.undo()
      if (left.length > 0) stuck.set(staging, left)
    }
    throw stuck.size > 0 ? toStuckError(error, [...stuck.values()].flat()) : error
  } finally {
    // Leftovers are removed by the next command.
    for (const staging of stagings.values()) if (!stuck.has(staging)) attempt(() => staging.close())
  }
}

function toStuckError(cause: unknown, folders: readonly string[]): Error {
  const reason = toErrorText(cause)
  return new Error(
    `${reason} The former content could not be restored. It is in ${folders.join(', ')}; move it back.`,
    { cause },
  )
}

import { statSync } from 'node:fs'
import { RegistryError } from '@skillstead/protocol'
import { openFolder, openZip, type Source } from '@skillstead/skill-format/archives'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import { type ImportSummary, runImport } from './run-import.ts'

/** The state of a running import. */
export interface ImportProgress {
  /** Number of skills processed so far. */
  readonly skills: number
  /** Share of the source that was read, from 0 to 1. */
  readonly share: number
}

/** Options of an import. */
export interface ImportOptions {
  /** Called after each batch of skills. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined
  /** Ends the import between two batches. What was imported before stays. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Imports all skills of a folder or zip as skills of the caller, whichever author the files name. Throws `not_found`
 * for a path that does not exist, `invalid_request` for a file that is no zip, and the reason of an aborted signal.
 */
export async function importFolder(
  context: CatalogueContext,
  path: string,
  caller: Caller,
  { onProgress, signal }: ImportOptions = {},
): Promise<ImportSummary> {
  const { username } = requireAccount(caller)
  signal?.throwIfAborted()
  const source = openFolderOrZip(path)
  let skills = 0
  return runImport(context, source, {
    owner: username,
    caller,
    signal,
    onProgress(more) {
      skills += more
      onProgress?.({ skills, share: source.share() })
    },
  })
}

function openFolderOrZip(path: string): Source {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw new RegistryError('not_found', `There is no folder or zip at ${path}. Check the path.`)
  if (found.isDirectory()) return openFolder(path)
  if (/\.zip$/i.test(path)) return openZip(path)
  throw new RegistryError('invalid_request', `${path} cannot be imported. Pass a folder of skills or a .zip.`)
}

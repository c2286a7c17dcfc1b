import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { RegistryError } from '@skillstead/protocol'
import { makePrivateFolder } from '@skillstead/core/internal'

/** Suffixes of SQLite's additional files: SQLite would use leftover files as those of the new registry. */
const journals = ['-wal', '-shm', '-journal']

/**
 * Creates the folder for a new registry file. Throws `conflict` if there is a registry, or only a journal of a
 * registry, which a node may have open.
 */
export function preparePlace(path: string): void {
  const folder = dirname(resolve(path))
  if (existsSync(path)) {
    throw new RegistryError('conflict', `There is already a registry in ${folder}. Choose another folder.`)
  }
  const left = journals.find((end) => existsSync(path + end))
  if (left !== undefined) {
    throw new RegistryError(
      'conflict',
      `There is ${basename(path)}${left} in ${folder}, the journal of a registry. Stop the node that uses it and move it away, or choose another folder.`,
    )
  }
  makePrivateFolder(folder)
}

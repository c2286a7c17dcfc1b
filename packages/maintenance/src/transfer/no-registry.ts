import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { RegistryError } from '@skillstead/protocol'
import { makePrivateFolder } from '@skillstead/core/internal'

/** What SQLite keeps beside a file: it would be taken for that of the new one. */
const journals = ['-wal', '-shm', '-journal']

/**
 * Makes the folder for the file of a registry that is to be. Throws `conflict` where there is a registry, also where
 * nothing but a journal is left of it: a node may have it open.
 */
export function preparePlace(path: string): void {
  const folder = dirname(resolve(path))
  if (existsSync(path)) {
    throw new RegistryError('conflict', `There is a registry in ${folder} already. Choose a folder without one.`)
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

import { existsSync } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { RegistryError } from '@skillstead/protocol'
import { copySqliteFile } from '@skillstead/core/internal'
import { placeFile } from './place-file.ts'

/** Free space that must remain on the disk after the copy. */
const spareBytes = 64 * 1024 * 1024

/**
 * Copies the SQLite file of a registry, also while it is in use: the copy has the state of the moment when it began. It
 * is verified from end to end before it gets its name, and only its owner may read it. Throws `conflict` if a file with
 * that name exists, `overloaded` if the disk has too little space, and an Error if the copy is damaged.
 *
 * @returns the size of the copy in bytes
 */
export async function writeBackup(from: string, to: string, signal?: AbortSignal): Promise<number> {
  await copyRegistry(from, to, { signal })
  return (await stat(to)).size
}

interface CopyOptions {
  readonly signal?: AbortSignal | undefined
  /** Changes the copy before it gets its name. */
  readonly finish?: (partial: string) => Promise<void>
}

/** As {@link writeBackup}, but `finish` can change the copy before the copy gets its name. */
export async function copyRegistry(from: string, to: string, { signal, finish }: CopyOptions): Promise<void> {
  await placeFile(to, async (partial) => {
    await requireBackupSpace(from, to)
    const problem = await copySqliteFile({ from, to: partial }, signal)
    if (problem !== null) throw new Error(`The copy is damaged and was deleted: ${problem}`)
    await finish?.(partial)
    requireOneFile(partial)
  })
}

/**
 * Rejects a copy whose journal SQLite could not merge when it closed the copy, as on a full disk: the content of the
 * journal would be lost.
 */
function requireOneFile(partial: string): void {
  if (!existsSync(`${partial}-wal`)) return
  throw new RegistryError(
    'overloaded',
    'The copy is incomplete and was deleted: its journal could not be merged. Free disk space and try again.',
  )
}

async function requireBackupSpace(from: string, to: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(to))
  const { size } = await stat(from)
  const journal = await stat(`${from}-wal`).catch(() => ({ size: 0 }))
  if (bavail * bsize >= size + journal.size + spareBytes) return
  const needed = Math.ceil((size + journal.size + spareBytes) / 1024 / 1024)
  throw new RegistryError(
    'overloaded',
    `The disk is too full for a copy, which needs ${needed} MiB. Free disk space first.`,
  )
}

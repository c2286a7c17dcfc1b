import { setImmediate } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { unpackBlob } from '../storage/blobs.ts'
import type { Tables } from '../storage/tables.ts'

/** Bytes read per batch. A single larger file is read on its own. */
const readBytesMax = 1024 * 1024
const readFilesMax = 64

/** Splits items into batches of at most `readBytesMax` bytes, with at least one item per batch. */
export function* inGroups<T>(
  items: Iterable<T>,
  measure: (item: T) => { bytes: number; files: number },
): Generator<T[]> {
  let group: T[] = []
  let left = { bytes: readBytesMax, files: readFilesMax }
  for (const item of items) {
    const { bytes, files } = measure(item)
    if (group.length > 0 && (bytes > left.bytes || files > left.files)) {
      yield group
      group = []
      left = { bytes: readBytesMax, files: readFilesMax }
    }
    group.push(item)
    left = { bytes: left.bytes - bytes, files: left.files - files }
  }
  if (group.length > 0) yield group
}

/**
 * The bytes of many blobs, whose sizes are given by digest, one batch at a time. Throws if the storage lacks a blob.
 */
export async function* readBlobs(
  read: Kysely<Tables>,
  sizes: ReadonlyMap<string, number>,
): AsyncGenerator<[digest: string, bytes: Uint8Array]> {
  for (const group of inGroups(sizes, ([, bytes]) => ({ bytes, files: 1 }))) {
    const digests = group.map(([digest]) => digest)
    const rows = await read.selectFrom('blobs').selectAll().where('digest', 'in', digests).execute()
    const lacking = digests.find((digest) => !rows.some((row) => row.digest === digest))
    if (lacking) throw new Error(`Blob ${lacking} is missing from the storage. Run skillstead doctor.`)
    for (const row of rows) yield [row.digest, await unpackBlob(row)]
    await setImmediate()
  }
}

import { sql } from 'kysely'
import { setImmediate } from 'node:timers/promises'
import {
  type Blob,
  countRows,
  createProgress,
  type OperatorContext,
  readPages,
  type Tell,
  unpackBlob,
} from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { restoreAdvice, type Check, type Faults } from './finding.ts'

const pageRows = 500
/** What is read at a time; a single file may be larger. */
const sliceBytesMax = 4 * 1024 * 1024

/** Every stored file, decompressed and hashed. */
export const contentsCheck: Check = {
  name: 'contents',
  async run(registry, tell, faults) {
    const total = await checkBlobs(registry, faults, tell)
    await checkSizes(registry, faults)
    await checkHeld(registry, faults)
    const unused = await countUnused(registry)
    const also = unused === 0 ? '' : ` ${unused} of them are of no version: skillstead gc removes them.`
    return faults.toOutcome(`All ${total} contents are what their digests say.${also}`, restoreAdvice)
  },
}

async function checkBlobs({ database }: OperatorContext, faults: Faults, tell: Tell): Promise<number> {
  const total = await countRows(database.read.selectFrom('blobs'))
  const progress = createProgress(tell, 'contents', total)
  const read = (after: string) =>
    database.read
      .selectFrom('blobs')
      .select(['digest', sql<number>`length(bytes)`.as('stored')])
      .where('digest', '>', after)
      .orderBy('digest')
      .limit(pageRows)
      .execute()
  for await (const rows of readPages('', read, ({ digest }) => digest)) {
    for (const digests of toSlices(rows)) {
      const blobs = await database.read.selectFrom('blobs').selectAll().where('digest', 'in', digests).execute()
      for (const blob of blobs) await checkBlob(blob, `The content ${blob.digest}`, faults)
      progress(digests.length)
      await setImmediate()
    }
  }
  return total
}

function* toSlices(rows: readonly { digest: string; stored: number }[]): Generator<string[]> {
  let slice: string[] = []
  let bytes = 0
  for (const { digest, stored } of rows) {
    if (slice.length > 0 && bytes + stored > sliceBytesMax) {
      yield slice
      slice = []
      bytes = 0
    }
    slice.push(digest)
    bytes += stored
  }
  yield slice
}

async function checkBlob(blob: Blob, name: string, faults: Faults): Promise<void> {
  const bytes = await unpackBlob(blob).catch(() => undefined)
  if (!bytes) return faults.add(`${name} cannot be decompressed.`)
  if (toDigest(bytes) !== blob.digest) return faults.add(`${name} has other bytes than its digest says.`)
  if (bytes.length !== blob.size) faults.add(`${name} has ${bytes.length} bytes, and its row says ${blob.size}.`)
}

/** What the lists of files say of sizes against the contents themselves. */
async function checkSizes({ database }: OperatorContext, faults: Faults): Promise<void> {
  const rows = await database.read
    .selectFrom('version_files')
    .innerJoin('blobs', 'blobs.digest', 'version_files.digest')
    .select(['version_files.version_id', 'version_files.path', 'version_files.size', 'blobs.size as stored'])
    .whereRef('version_files.size', '!=', 'blobs.size')
    .limit(100)
    .execute()
  for (const { version_id, path, size, stored } of rows) {
    faults.add(`The list of files of version ${version_id} gives ${path} ${size} bytes, and it has ${stored}.`)
  }
}

/** The files of versions that wait for an administrator lie apart. */
async function checkHeld({ database }: OperatorContext, faults: Faults): Promise<void> {
  const quarantined = await database.read
    .selectFrom('held_versions')
    .select(['id', 'full_name'])
    .orderBy('id')
    .execute()
  for (const { id, full_name } of quarantined) {
    const files = await database.read.selectFrom('held_files').selectAll().where('held_id', '=', id).execute()
    if (files.length === 0) faults.add(`The version of ${full_name} that waits for an administrator has no files.`)
    for (const file of files) await checkBlob(file, `${file.path} of the waiting version of ${full_name}`, faults)
    await setImmediate()
  }
}

async function countUnused({ database }: OperatorContext): Promise<number> {
  return countRows(
    database.read
      .selectFrom('blobs')
      .where((eb) =>
        eb.not(
          eb.exists(
            eb.selectFrom('version_files').select('path').whereRef('version_files.digest', '=', 'blobs.digest'),
          ),
        ),
      ),
  )
}

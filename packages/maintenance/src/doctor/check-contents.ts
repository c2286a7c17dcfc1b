import { sql } from 'kysely'
import { setImmediate } from 'node:timers/promises'
import {
  type Blob,
  type BlobRow,
  countRows,
  createProgress,
  type CatalogueContext,
  type Database,
  isInRow,
  noBucketAdvice,
  readPages,
  type Report,
  unpackBlob,
} from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { lostAdvice, restoreAdvice, type Check, type Faults } from './finding.ts'

const pageRows = 500
/** Bytes read per batch; a file that is larger is read on its own. */
const batchBytesMax = 4 * 1024 * 1024

/** The advice for faults in a registry with a bucket. */
const advice = `For files in the bucket: ${lostAdvice} For others: ${restoreAdvice}`

/** Decompresses and hashes every stored file. */
export const contentsCheck: Check = {
  name: 'contents',
  async run(context, report, faults) {
    const total = await checkBlobs(context, faults, report)
    await checkSizes(context, faults)
    await checkQuarantined(context, faults)
    const unused = await countRows(
      context.database.read
        .selectFrom('blobs')
        .where((eb) =>
          eb.not(
            eb.exists(
              eb.selectFrom('version_files').select('path').whereRef('version_files.digest', '=', 'blobs.digest'),
            ),
          ),
        ),
    )
    const also = unused === 0 ? '' : ` ${unused} of them are unreferenced: skillstead gc removes them.`
    return faults.toOutcome(
      `All ${total} contents match their digests.${also}`,
      context.database.bucket ? advice : restoreAdvice,
    )
  },
}

async function checkBlobs({ database }: CatalogueContext, faults: Faults, report: Report): Promise<number> {
  const total = await countRows(database.read.selectFrom('blobs'))
  const progress = createProgress(report, 'contents', total)
  const read = (after: string) =>
    database.read
      .selectFrom('blobs')
      .select([
        'digest',
        sql<number>`case when place in ('bucket', 'lost') then size else length(bytes) end`.as('stored'),
      ])
      .where('digest', '>', after)
      .orderBy('digest')
      .limit(pageRows)
      .execute()
  for await (const rows of readPages('', read, ({ digest }) => digest)) {
    for (const digests of toBlobBatches(rows)) {
      const blobs = await database.read.selectFrom('blobs').selectAll().where('digest', 'in', digests).execute()
      await Promise.all(blobs.map((blob) => checkStored(database, blob, faults)))
      progress(digests.length)
      await setImmediate()
    }
  }
  return total
}

function* toBlobBatches(rows: readonly { digest: string; stored: number }[]): Generator<string[]> {
  let batch: string[] = []
  let bytes = 0
  for (const { digest, stored } of rows) {
    if (batch.length > 0 && bytes + stored > batchBytesMax) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(digest)
    bytes += stored
  }
  yield batch
}

/** Checks one content. A content in the bucket is compared with its digest when it is read. */
async function checkStored(database: Database, row: BlobRow, faults: Faults): Promise<void> {
  if (isInRow(row)) return checkBlob(row, `Content ${row.digest}`, faults)
  const reading = database.bucket ? database.bucket.open(row) : Promise.reject(new Error(noBucketAdvice))
  await reading.catch(({ message }: Error) => {
    faults.add(`Content ${row.digest} cannot be read from the bucket: ${message}`)
  })
}

async function checkBlob(blob: Blob, name: string, faults: Faults): Promise<void> {
  const bytes = await unpackBlob(blob).catch(() => undefined)
  if (!bytes) return faults.add(`${name} cannot be decompressed.`)
  if (toDigest(bytes) !== blob.digest) return faults.add(`${name} does not match its digest.`)
  if (bytes.length !== blob.size) faults.add(`${name} has ${bytes.length} bytes, but its row has ${blob.size}.`)
}

/** Compares the sizes in file lists with those of the contents. */
async function checkSizes({ database }: CatalogueContext, faults: Faults): Promise<void> {
  const rows = await database.read
    .selectFrom('version_files')
    .innerJoin('blobs', 'blobs.digest', 'version_files.digest')
    .select(['version_files.version_id', 'version_files.path', 'version_files.size', 'blobs.size as stored'])
    .whereRef('version_files.size', '!=', 'blobs.size')
    .limit(100)
    .execute()
  for (const { version_id, path, size, stored } of rows) {
    faults.add(`The file list of version ${version_id} has ${size} bytes for ${path}, which has ${stored}.`)
  }
}

/** Checks the files of quarantined versions, which are stored in a table of their own. */
async function checkQuarantined({ database }: CatalogueContext, faults: Faults): Promise<void> {
  const quarantined = await database.read
    .selectFrom('quarantine_items')
    .select(['id', 'full_name'])
    .orderBy('id')
    .execute()
  for (const { id, full_name } of quarantined) {
    const files = await database.read
      .selectFrom('quarantine_files')
      .selectAll()
      .where('quarantine_id', '=', id)
      .execute()
    if (files.length === 0) faults.add(`The quarantined version of ${full_name} has no files.`)
    for (const file of files) await checkBlob(file, `${file.path} of the quarantined version of ${full_name}`, faults)
    await setImmediate()
  }
}

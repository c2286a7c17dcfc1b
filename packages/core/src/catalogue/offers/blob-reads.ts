import type { Kysely } from 'kysely'
import { type Content, RegistryError, toManifest } from '@skillstead/protocol'
import type { StorageContext } from '../../storage/storage-context.ts'
import { isSliceOver, nextSlice } from '../../kernel/time-slices.ts'
import type { Input, Operation } from '../../kernel/operation-input.ts'
import { compileQuery, type Param } from '../../storage/compiled-query.ts'
import { findBlob } from '../../storage/read-blobs.ts'
import type { Tables } from '../../storage/tables.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { createQuarantineCheck, readFileRows } from '../versions/version-files.ts'
import { isPublicWith } from '../../visibility/conditions.ts'

/**
 * GET /blobs/<digest>: a file of a public version by its digest, or a version's manifest by the version's digest.
 * Throws `taken_down` if only skills under a takedown contain the file, else `not_found`.
 */
export const showBlob: Operation<'getBlob', CatalogueContext> = async (context, input) => {
  const { digest } = input
  const reader = toBlobReader(context)
  const bytes = await findPublicBlob(context, digest, await findPublicSize(reader, digest, 'seen'))
  if (!bytes) throw await toBlobRefusal(reader, digest)
  const etag = `"${digest}"`
  return { contentType: 'application/octet-stream', body: bytes, etag, filename: digest.slice(7) }
}

/** Maximum content of a response, in bytes. A version has at most 16 MiB, so whole versions fit. */
const blobBytesMax = 64 * 1024 * 1024

/**
 * POST /blobs/batch: one JSON line per distinct digest, in request order, streamed at the client's pace. A file that
 * would exceed the response's size limit is reported as `skipped`; the client requests such files again.
 */
export function streamBlobs(context: CatalogueContext, input: Input<'batchBlobs'>): Content {
  return { contentType: 'application/x-ndjson; charset=utf-8', body: toBlobLines(context, input.digests) }
}

async function* toBlobLines(context: CatalogueContext, digests: readonly string[]): AsyncGenerator<Uint8Array> {
  const reader = toBlobReader(context)
  let sent = 0
  for (const digest of new Set(digests)) {
    if (isSliceOver()) await nextSlice()
    const line = await toBlobLine(reader, digest, blobBytesMax - sent)
    if (line.content !== undefined) sent += line.size
    yield Buffer.from(`${JSON.stringify(line)}\n`)
  }
}

type Line =
  | { digest: string; size: number; content: string }
  | { digest: string; size?: number; missing?: true; skipped?: true; content?: undefined }

interface Reader {
  readonly context: CatalogueContext
  readonly isQuarantined: (versionId: string) => Promise<boolean>
}

function toBlobReader(context: CatalogueContext): Reader {
  return { context, isQuarantined: createQuarantineCheck(context.database.read) }
}

async function toBlobLine(reader: Reader, digest: string, bytesLeft: number): Promise<Line> {
  const { context } = reader
  const size = await findPublicSize(reader, digest, 'seen')
  if (size !== undefined && size > bytesLeft) return { digest, size, skipped: true }
  const bytes = await findPublicBlob(context, digest, size)
  if (!bytes) return { digest, missing: true }
  return { digest, size: bytes.length, content: Buffer.from(bytes).toString('base64') }
}

async function findPublicBlob(context: StorageContext, digest: string, size: number | undefined) {
  return size === undefined ? findPublicManifest(context, digest, 'seen') : findBlob(context.database, digest)
}

async function toBlobRefusal(reader: Reader, digest: string): Promise<RegistryError> {
  const { context } = reader
  const isTakenDown =
    (await findPublicSize(reader, digest, 'taken_down')) !== undefined ||
    (await findPublicManifest(context, digest, 'taken_down')) !== undefined
  if (!isTakenDown) return new RegistryError('not_found', 'No public version or file has this digest.')
  return new RegistryError('taken_down', 'The content with this digest is under a takedown.')
}

/** The size of a file of a public skill, visible or under a takedown as `sight` says. Ignores quarantined versions. */
async function findPublicSize({ context, isQuarantined }: Reader, digest: string, sight: 'seen' | 'taken_down') {
  const { read } = context.database
  const [file] = await selectPublicFile[sight](read, { digest })
  if (!file || !(await isQuarantined(file.id))) return file?.size
  // If this version is quarantined (rare), another version may contain the same file.
  const files = await selectPublicFiles(read, sight).where('version_files.digest', '=', digest).execute()
  for (const { id, size } of files) if (!(await isQuarantined(id))) return size
  return undefined
}

const selectPublicFile = { seen: compilePublicFile('seen'), taken_down: compilePublicFile('taken_down') }

function compilePublicFile(sight: 'seen' | 'taken_down') {
  return compileQuery((db, param: Param<{ digest: string }>) =>
    selectPublicFiles(db, sight).where('version_files.digest', '=', param('digest')).limit(1),
  )
}

function selectPublicFiles(db: Kysely<Tables>, sight: 'seen' | 'taken_down') {
  return db
    .selectFrom('version_files')
    .innerJoin('versions', 'versions.id', 'version_files.version_id')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select(['versions.id', 'version_files.size'])
    .where(isPublicWith(sight))
}

/**
 * The manifest of the version with a digest. Clients compare the manifest with the version's log entry. Searches only
 * public skills, visible or under a takedown as `sight` says.
 */
async function findPublicManifest({ database }: StorageContext, digest: string, sight: 'seen' | 'taken_down') {
  const version = await database.read
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select('versions.id')
    .where('versions.digest', '=', digest)
    .where(isPublicWith(sight))
    .limit(1)
    .executeTakeFirst()
  return version && Buffer.from(toManifest(await readFileRows(database.read, version.id)))
}

import { RegistryError, type Content } from '@skillstead/protocol'
import { findBlob } from '../blobs.ts'
import type { Context } from '../context.ts'

/** GET /blobs/<digest>: a file of a public version by its digest. Throws `not_found` for everything else. */
export async function readBlob(context: Context, input: { digest: string }): Promise<Content> {
  const bytes = await findPublicBlob(context, input.digest)
  if (!bytes) throw new RegistryError('not_found', 'No public version has a file of this digest.')
  return {
    contentType: 'application/octet-stream',
    body: bytes,
    etag: `"${input.digest}"`,
    filename: input.digest.slice(7),
  }
}

/** POST /blobs/batch: one JSON line for each digest, in their order, read as the receiver takes them. */
export function readBlobs(context: Context, input: { digests: string[] }): Content {
  return { contentType: 'application/x-ndjson; charset=utf-8', body: toLines(context, input.digests) }
}

async function* toLines(context: Context, digests: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const digest of digests) {
    const bytes = await findPublicBlob(context, digest)
    const line = bytes
      ? { digest, size: bytes.length, content: Buffer.from(bytes).toString('base64') }
      : { digest, missing: true }
    yield Buffer.from(`${JSON.stringify(line)}\n`)
  }
}

async function findPublicBlob(context: Context, digest: string): Promise<Uint8Array | undefined> {
  const isPublic = await context.database.read
    .selectFrom('version_files')
    .innerJoin('versions', 'versions.id', 'version_files.version_id')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select('skills.id')
    .where('version_files.digest', '=', digest)
    .where('skills.visibility', '=', 'public')
    .where('skills.state', '=', 'live')
    .limit(1)
    .executeTakeFirst()
  return isPublic && findBlob(context.database.read, digest)
}

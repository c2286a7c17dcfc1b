import { randomBytes } from 'node:crypto'
import { link, open, readdir, rename, stat, unlink, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { RegistryError, readErrorCode } from '@skillstead/protocol'

export interface WholeFile {
  readonly bytes: AsyncIterable<Uint8Array>
  /** A transformation of the bytes, such as compression. */
  readonly transform: Transform
  readonly overwrite: boolean
  /** Called with each chunk that is written. */
  onChunk(chunk: Uint8Array): void
}

/**
 * Writes a file completely or not at all: writes a temporary file in the same folder, flushes it to disk and renames
 * it. Returns the size of the file. Throws `conflict` if the file exists and must not be replaced, and
 * `invalid_request` if the disk is full or not writable.
 */
export async function writeWhole(file: string, whole: WholeFile): Promise<number> {
  if (!whole.overwrite && (await fileExists(file))) throw toExistsError(file)
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  try {
    const size = await writeAll(partial, whole)
    await removeUnfinishedFiles(file, partial)
    await moveIntoPlace(partial, file, whole.overwrite)
    await syncFolder(dirname(file))
    return size
  } catch (error) {
    await unlink(partial).catch(() => undefined)
    throw toWriteError(file, error)
  }
}

async function writeAll(partial: string, { bytes, transform, onChunk }: WholeFile): Promise<number> {
  const handle = await open(partial, 'wx', 0o644)
  let size = 0
  try {
    const source = Readable.from(bytes, { objectMode: true, highWaterMark: 2 })
    await pipeline(source, transform, async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        onChunk(chunk)
        await writeChunk(handle, chunk)
        size += chunk.length
      }
    })
    await handle.sync()
  } finally {
    await handle.close()
  }
  return size
}

async function writeChunk(handle: FileHandle, chunk: Buffer): Promise<void> {
  for (let done = 0; done < chunk.length;) {
    const { bytesWritten } = await handle.write(chunk, done)
    done += bytesWritten
  }
}

/** Age after which a temporary file is considered abandoned. */
const leftAfterMs = 60 * 60 * 1000

/** Deletes the abandoned temporary files of the same target, which killed processes left. */
async function removeUnfinishedFiles(file: string, own: string): Promise<void> {
  const folder = dirname(file)
  // The age is measured with the file system's clock, which may be the clock of another machine.
  const { mtimeMs: now } = await stat(own)
  for (const name of await readdir(folder)) {
    const other = join(folder, name)
    const isOne = name.startsWith(`${basename(file)}.`) && /\.[0-9a-f]{8}\.partial$/.test(name)
    if (!isOne || name.length !== basename(own).length) continue
    const { mtimeMs } = await stat(other).catch(() => ({ mtimeMs: now }))
    if (now - mtimeMs > leftAfterMs) await unlink(other).catch(() => undefined)
  }
}

/**
 * Gives the file its name by a hard link, which fails if a file has the name, even if another process creates it at the
 * same time. On media without links, as most removable ones, the file is renamed.
 */
async function moveIntoPlace(partial: string, file: string, overwrite: boolean): Promise<void> {
  if (overwrite) return rename(partial, file)
  try {
    await link(partial, file)
  } catch (error) {
    if (readErrorCode(error) === 'EEXIST' || (await fileExists(file))) throw toExistsError(file)
    return rename(partial, file)
  }
  await unlink(partial)
}

async function fileExists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}

/** Flushes the folder, so that the file's name survives if the medium is removed. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}

function toExistsError(file: string): RegistryError {
  return new RegistryError('conflict', `${file} already exists. Choose another name, or pass --force to replace it.`)
}

const messages: Readonly<Record<string, (file: string) => string>> = {
  ENOSPC: (file) => `There is not enough space for ${file}. Nothing was written.`,
  EDQUOT: (file) => `There is not enough space for ${file}. Nothing was written.`,
  EFBIG: (file) => `${file} is too large for the file system. Format the medium with exFAT or ext4.`,
  ENOENT: (file) => `The folder ${dirname(file)} does not exist.`,
  EACCES: (file) => `The folder ${dirname(file)} is not writable: permission denied.`,
  EROFS: (file) => `The folder ${dirname(file)} is on a read-only file system.`,
}

function toWriteError(file: string, error: unknown): unknown {
  const message = messages[readErrorCode(error) ?? '']?.(file)
  return message === undefined ? error : new RegistryError('invalid_request', message, { cause: error })
}

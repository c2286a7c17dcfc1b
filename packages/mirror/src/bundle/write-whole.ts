import { randomBytes } from 'node:crypto'
import { link, open, readdir, rename, stat, unlink, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { RegistryError } from '@skillstead/protocol'

export interface WholeFile {
  readonly bytes: AsyncIterable<Uint8Array>
  /** What the bytes go through on their way. */
  readonly transform: Transform
  readonly overwrite: boolean
  /** Told of each piece as it is written. */
  onChunk(chunk: Uint8Array): void
}

/**
 * Writes a file that is there whole or not at all: beside its place, forced onto the disk, and then moved. Returns its
 * size. Throws `conflict` where one is there and is not to be replaced, and a sentence where there is no room.
 */
export async function writeWhole(file: string, whole: WholeFile): Promise<number> {
  if (!whole.overwrite && (await exists(file))) throw isThere(file)
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  try {
    const size = await writeAll(partial, whole)
    await removeLeftovers(file, partial)
    await put(partial, file, whole.overwrite)
    await sync(dirname(file))
    return size
  } catch (error) {
    await unlink(partial).catch(() => undefined)
    throw toSentence(file, error)
  }
}

async function writeAll(partial: string, { bytes, transform, onChunk }: WholeFile): Promise<number> {
  const handle = await open(partial, 'wx', 0o644)
  let size = 0
  try {
    await pipeline(Readable.from(bytes, { objectMode: true, highWaterMark: 2 }), transform, async (chunks) => {
      for await (const chunk of chunks as AsyncIterable<Buffer>) {
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

/** Nobody who still writes one lets it be for so long. */
const leftAfterMs = 60 * 60 * 1000

/** Takes away what was begun under this name and never finished, as a process that is killed leaves it. */
async function removeLeftovers(file: string, own: string): Promise<void> {
  const folder = dirname(file)
  // The clock of the folder, which may be that of another machine.
  const { mtimeMs: now } = await stat(own)
  for (const name of await readdir(folder)) {
    const other = join(folder, name)
    const isOne = name.startsWith(`${basename(file)}.`) && /\.[0-9a-f]{8}\.partial$/.test(name)
    if (!isOne || name.length !== basename(own).length) continue
    const { mtimeMs } = await stat(other).catch(() => ({ mtimeMs: now }))
    if (now - mtimeMs > leftAfterMs) await unlink(other).catch(() => undefined)
  }
}

/** A link is made only where nothing is, also when another process is as quick; sticks mostly know of none. */
async function put(partial: string, file: string, overwrite: boolean): Promise<void> {
  if (overwrite) return rename(partial, file)
  try {
    await link(partial, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || (await exists(file))) throw isThere(file)
    return rename(partial, file)
  }
  await unlink(partial)
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}

/** So that the name, too, survives when the stick is pulled out. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}

function isThere(file: string): RegistryError {
  return new RegistryError('conflict', `${file} is there already; take another name, or replace it with --force.`)
}

const sentences: Readonly<Record<string, (file: string) => string>> = {
  ENOSPC: (file) => `There is no room for ${file}; nothing was left there.`,
  EDQUOT: (file) => `There is no room for ${file}; nothing was left there.`,
  EFBIG: (file) => `${file} would be larger than the file system can hold: format the stick with exFAT or ext4.`,
  ENOENT: (file) => `There is no folder ${dirname(file)} to write into.`,
  EACCES: (file) => `${dirname(file)} may not be written to by this user.`,
  EROFS: (file) => `${dirname(file)} is read-only.`,
}

function toSentence(file: string, error: unknown): unknown {
  const sentence = sentences[(error as NodeJS.ErrnoException).code ?? '']?.(file)
  return sentence === undefined ? error : new RegistryError('invalid_request', sentence, { cause: error })
}

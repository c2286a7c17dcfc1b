import { damagedBundle } from './format.ts'

/**
 * A bundle is a plain tar archive (POSIX ustar) with a fixed order of files, and headers that only depend on name and
 * size. The reader compares every byte with what the writer would have written, so nothing can be altered, hidden or
 * named twice. This is own code, because no library is as strict and as fast.
 */
const blockBytes = 512
const nameBytesMax = 100

/** The end of an archive: two empty blocks. */
export const tarEnd: Buffer = Buffer.alloc(2 * blockBytes)

/** A file of the archive, in memory. */
export interface TarFile {
  readonly name: string
  readonly bytes: Buffer
}

/** The header block of a file. */
export function toTarHeader(name: string, size: number): Buffer {
  const block = Buffer.from(template)
  if (name.length > nameBytesMax) throw new TypeError(`The name '${name}' is too long for a bundle.`)
  block.write(name, 'latin1')
  block.write(size.toString(8).padStart(11, '0'), 124, 'latin1')
  let sum = 0
  for (const byte of block) sum += byte
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

/** The zero bytes that fill the last block of a file of this size. */
export function toPadding(size: number): Buffer {
  return zeros.subarray(0, paddingOf(size))
}

const zeros = Buffer.alloc(blockBytes)
const template = createTemplate()

/** A header block without name, size and checksum, with mode 0644, owner 0 and time 0. */
function createTemplate(): Buffer {
  const block = Buffer.alloc(blockBytes)
  const fields: [at: number, text: string][] = [
    [100, '0000644\0'],
    [108, '0000000\0'],
    [116, '0000000\0'],
    [136, '00000000000\0'],
    [148, '        '],
    [156, '0'],
    [257, 'ustar\u000000'],
  ]
  for (const [at, text] of fields) block.write(text, at, 'latin1')
  return block
}

function paddingOf(size: number): number {
  return -size & (blockBytes - 1)
}

/**
 * Reads the files of an archive in order, to its very end. `bytesMaxOf` returns the maximum size of a file by its name;
 * undefined if the file is not allowed at this point. Throws `invalid_request`.
 */
export async function* readBundleTar(
  chunks: AsyncIterable<Buffer>,
  bytesMaxOf: (name: string) => number | undefined,
): AsyncGenerator<TarFile> {
  const iterator = chunks[Symbol.asyncIterator]()
  try {
    yield* readTarFiles(createReader(iterator), bytesMaxOf)
  } finally {
    await iterator.return?.()
  }
}

async function* readTarFiles(bytes: Reader, bytesMaxOf: (name: string) => number | undefined): AsyncGenerator<TarFile> {
  for (;;) {
    const block = await bytes.read(blockBytes)
    if (block.equals(zeros)) break
    const { name, size } = parseTarHeader(block)
    const bytesMax = bytesMaxOf(name)
    if (bytesMax === undefined) throw damagedBundle(`'${name}' is in the wrong place`)
    if (size > bytesMax) throw damagedBundle(`'${name}' has ${size} bytes; the maximum is ${bytesMax}`)
    const file = { name, bytes: await bytes.read(size) }
    if (!(await bytes.read(paddingOf(size))).equals(toPadding(size)))
      throw damagedBundle(`there is data after the end of '${name}'`)
    yield file
  }
  if (!(await bytes.read(blockBytes)).equals(zeros)) throw damagedBundle('its end marker is missing')
  if (!(await bytes.isAtEnd())) throw damagedBundle('it has data after its end')
}

function parseTarHeader(block: Buffer): { name: string; size: number } {
  const name = block.toString('latin1', 0, nameBytesMax).replace(/\0+$/, '')
  const size = Number.parseInt(block.toString('latin1', 124, 135), 8)
  if (!/^[a-z0-9./]+$/.test(name) || !Number.isSafeInteger(size) || !toTarHeader(name, size).equals(block)) {
    throw damagedBundle('it has an invalid file header')
  }
  return { name, size }
}

interface Reader {
  /** Reads exactly `size` bytes, which are not overwritten later. */
  read(size: number): Promise<Buffer>
  isAtEnd(): Promise<boolean>
}

function createReader(iterator: AsyncIterator<Buffer>): Reader {
  let rest: Buffer = Buffer.alloc(0)

  async function fill(): Promise<boolean> {
    while (rest.length === 0) {
      const next = await iterator.next()
      if (next.done) return false
      rest = next.value
    }
    return true
  }

  return {
    async read(size) {
      if (rest.length >= size) return take(size)
      const parts: Buffer[] = []
      for (let wanted = size; wanted > 0;) {
        if (!(await fill())) throw damagedBundle('it ends early')
        const part = take(Math.min(wanted, rest.length))
        parts.push(part)
        wanted -= part.length
      }
      return Buffer.concat(parts)
    },
    isAtEnd: async () => !(await fill()),
  }

  function take(size: number): Buffer {
    const taken = rest.subarray(0, size)
    rest = rest.subarray(size)
    return taken
  }
}

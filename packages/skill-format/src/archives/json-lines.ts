import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { parseForeignJson } from '@skillstead/protocol'

/** Maximum size of a line. Longer lines are not buffered, so that a decompression bomb does not fill the memory. */
const lineBytesMax = 64 * 1024 * 1024
const newline = 10

/** One line of a file of JSON records: its value (undefined if it is not JSON), or the reason why it cannot be read. */
export interface ReadObject {
  readonly number: number
  readonly value?: unknown
  readonly reason?: string
}

/**
 * The values of `.ndjson` and `.ndjson.gz`, line by line, without empty lines. Only lines that `isWanted` accepts are
 * read. `done` describes the processed lines in error messages.
 */
export async function* readObjects(
  file: string,
  done: 'imported' | 'scanned',
  bytes = createReadStream(file),
  isWanted = (_number: number) => true,
): AsyncGenerator<ReadObject> {
  const input = /\.gz$/i.test(file) ? bytes.pipe(createGunzip({ chunkSize: 256 * 1024 })) : bytes
  bytes.once('error', (error) => input.destroy(error))
  const decoder = new TextDecoder()
  let number = 0
  for await (const line of splitRecordLines(readFileChunks(input, file, { countLines: () => number, done }))) {
    number += 1
    if (!isWanted(number)) continue
    if (line === undefined) yield { number, reason: `The line is longer than ${lineBytesMax / 1024 / 1024} MiB.` }
    else {
      const text = decoder.decode(line)
      if (text.trim() !== '') yield { number, value: parseJsonLine(text) }
    }
  }
}

async function* readFileChunks(
  input: AsyncIterable<Buffer>,
  file: string,
  { countLines, done }: { countLines: () => number; done: string },
): AsyncGenerator<Buffer> {
  try {
    yield* input
  } catch (cause) {
    // The zlib message is only "unexpected end of file".
    throw new Error(`${file} is cut off or damaged after line ${countLines()}. All lines up to there are ${done}.`, {
      cause,
    })
  }
}

/** The lines of a stream; undefined for a line that is too long, which is not buffered. */
async function* splitRecordLines(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer | undefined> {
  // Join once per line: joining at every chunk would take quadratic time.
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of input) {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      add(chunk.subarray(start, end))
      yield take()
      start = end + 1
    }
    add(chunk.subarray(start))
  }
  if (length > 0) yield take()

  function add(part: Buffer): void {
    length += part.length
    if (length > lineBytesMax) parts = []
    else if (part.length > 0) parts.push(part)
  }

  function take(): Buffer | undefined {
    const line = length > lineBytesMax ? undefined : Buffer.concat(parts)
    parts = []
    length = 0
    return line
  }
}

function parseJsonLine(line: string): unknown {
  try {
    return parseForeignJson(line)
  } catch {
    return undefined
  }
}

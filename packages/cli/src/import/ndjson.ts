import { createReadStream, statSync, type ReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { firstIssueOnly, parseForeignJson } from '@skillstead/protocol'
import { decodeText, type Source, type SourceItem } from '@skillstead/skill-format/archives'
import * as v from 'valibot'

/** Skip longer lines while streaming, so that a decompression bomb does not fill the memory. */
const lineBytesMax = 64 * 1024 * 1024
const newline = 10

const Name = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String))
const Text = v.nullish(v.string())

/** One record: a skill with its history, as described in the README of a corpus. Unknown fields are ignored. */
const Record = v.object({
  id: v.pipe(v.string(), v.minLength(1)),
  repo: Text,
  path: Text,
  license: Text,
  name: v.nullish(v.union([Name, v.unknown()])),
  skillMd: v.nullish(v.string()),
  skillMdB64: Text,
  files: v.nullish(v.array(v.object({ path: v.string(), text: Text }))),
  versions: v.nullish(v.array(v.object({ skillMd: v.string(), version: Text, date: Text }))),
  clawhub: v.nullish(v.object({ owner: Text })),
})

/** Reads `.ndjson` and `.ndjson.gz`: one JSON record per line. */
export function openNdjson(file: string): Source {
  const { size } = statSync(file)
  const bytes = createReadStream(file)
  return { items: readItems(bytes, file), share: () => (size === 0 ? 1 : bytes.bytesRead / size) }
}

/** One line of a file of JSON records: its value (undefined if it is not JSON), or the reason why it cannot be read. */
export interface ReadObject {
  readonly number: number
  readonly value?: unknown
  readonly reason?: string
}

/**
 * The values of `.ndjson` and `.ndjson.gz`, line by line, without empty lines. `done` describes the processed lines in
 * error messages.
 */
export async function* readObjects(
  file: string,
  done: 'imported' | 'scanned',
  bytes = createReadStream(file),
): AsyncGenerator<ReadObject> {
  const input = /\.gz$/i.test(file) ? bytes.pipe(createGunzip({ chunkSize: 256 * 1024 })) : bytes
  bytes.once('error', (error) => input.destroy(error))
  const decoder = new TextDecoder()
  let number = 0
  for await (const line of readLines(readChunks(input, file, { countLines: () => number, done }))) {
    number += 1
    if (line === undefined) yield { number, reason: `The line is longer than ${lineBytesMax / 1024 / 1024} MiB.` }
    else {
      const text = decoder.decode(line)
      if (text.trim() !== '') yield { number, value: parseJson(text) }
    }
  }
}

async function* readItems(bytes: ReadStream, file: string): AsyncGenerator<SourceItem> {
  for await (const { number, value, reason } of readObjects(file, 'imported', bytes)) {
    yield reason === undefined ? readItem(value, number) : { id: `line ${number}`, reason }
  }
}

async function* readChunks(
  input: AsyncIterable<Buffer>,
  file: string,
  { countLines, done }: { countLines: () => number; done: string },
): AsyncGenerator<Buffer> {
  try {
    yield* input
  } catch (cause) {
    // The zlib message is only "unexpected end of file".
    throw new Error(`${file} is cut off or damaged after line ${countLines()}; the lines before it are ${done}.`, {
      cause,
    })
  }
}

/** The lines of a stream; undefined for a line that is too long, which is not buffered. */
async function* readLines(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer | undefined> {
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

function readItem(value: unknown, number: number): SourceItem {
  const parsed = v.safeParse(Record, value, firstIssueOnly)
  if (!parsed.success) {
    const [issue] = parsed.issues
    const field = v.getDotPath(issue)
    return {
      id: `line ${number}`,
      reason: field ? `The record's \`${field}\` is missing or of the wrong type.` : 'The line is not a JSON object.',
    }
  }
  const record = parsed.output
  const skillMd = record.skillMdB64 ? decodeText(Buffer.from(record.skillMdB64, 'base64')) : record.skillMd
  if (typeof skillMd !== 'string') return { id: record.id, reason: 'The record has no `skillMd`.' }
  const files = record.files ?? []
  const withText = files.filter((file) => typeof file.text === 'string')
  return {
    id: record.id,
    owner: record.clawhub?.owner ?? (record.repo ?? record.id).split('/')[0],
    name: typeof record.name === 'string' ? record.name : undefined,
    path: record.path ?? record.id.slice(record.id.lastIndexOf('//') + 1),
    license: record.license ?? undefined,
    repository: record.repo && /^[\w.-]+\/[\w.-]+$/.test(record.repo) ? `https://github.com/${record.repo}` : undefined,
    history: (record.versions ?? []).map(({ skillMd: text, version, date }) => ({
      skillMd: text,
      version: version ?? undefined,
      publishedAt: toEpochMs(date),
    })),
    skillMd,
    files: withText.map(({ path, text }) => ({ path, bytes: Buffer.from(text!) })),
    filesMissing: files.length - withText.length,
  }
}

function toEpochMs(date: string | null | undefined): number | undefined {
  const at = Date.parse(date ?? '')
  return Number.isNaN(at) ? undefined : at
}

function parseJson(line: string): unknown {
  try {
    return parseForeignJson(line)
  } catch {
    return undefined
  }
}

import { readErrorCode, toFields } from '@skillstead/protocol'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import * as v from 'valibot'
import { findUnknownSteps, isOlderSchema, type SchemaExtension } from '@skillstead/core/internal'
import { createDecompressor } from './compression.ts'
import { ExportFooter, ExportHeader, exportFormat, exportVersion } from './format.ts'

/** Maximum length of a line; the longest valid line contains a file of 10 MiB. */
const lineBytesMax = 64 * 1024 * 1024
/** The beginning of every header, by which an export is recognized. */
const beginning = `{"format":"${exportFormat}"`
const newline = 10

/** Whether a file is an export of a registry, by its first bytes. False if it cannot be read. */
export async function isExport(file: string): Promise<boolean> {
  try {
    let start = ''
    for await (const chunk of readExportChunks(await openDecompressed(file))) {
      start += chunk.toString('latin1')
      if (start.length >= beginning.length) break
    }
    return start.startsWith(beginning)
  } catch {
    return false
  }
}

/** One line of an export after the first. */
export interface ExportLine {
  readonly number: number
  /** The exact bytes of the line, with its line end. */
  readonly bytes: Uint8Array
  readonly value: unknown
}

/** An export opened for reading. */
export interface OpenExport {
  readonly header: ExportHeader
  /** The exact first line, with its line end. */
  readonly first: string
  /** All lines after the first. Throws if the file ends within a line, or a line is not JSON. */
  readonly lines: AsyncGenerator<ExportLine[]>
  close(): void
}

/** Opens a file or an uncompressed stream. Throws if it is not an export that this program can import. */
export async function openExport(from: string | Readable, extensions: readonly SchemaExtension[]): Promise<OpenExport> {
  const input = typeof from === 'string' ? await openDecompressed(from) : from
  const batches = readExportLines(input)
  try {
    const [first, ...others] = await takeFirst(batches)
    const header = readExportHeader(parseExportLine(first!, 1), extensions)
    return {
      header,
      first: Buffer.from(first!).toString('utf8'),
      lines: readExportValues(others, batches),
      close: () => void input.destroy(),
    }
  } catch (error) {
    input.destroy()
    throw error
  }
}

async function openDecompressed(file: string): Promise<Readable> {
  const handle = await open(file)
  const start = Buffer.alloc(4)
  await handle.read(start, 0, start.length, 0).finally(() => handle.close())
  const bytes = createReadStream(file, { highWaterMark: 256 * 1024 })
  const decompressor = createDecompressor(start)
  if (!decompressor) return bytes
  bytes.once('error', (error) => decompressor.destroy(error))
  decompressor.once('close', () => bytes.destroy())
  return bytes.pipe(decompressor)
}

async function takeFirst(batches: AsyncGenerator<Uint8Array[]>): Promise<Uint8Array[]> {
  for (;;) {
    const { value, done } = await batches.next()
    if (done) throw new Error('This is not an export of a registry: it is empty.')
    if (value.length > 0) return value
  }
}

function readExportHeader(value: unknown, extensions: readonly SchemaExtension[]): ExportHeader {
  const { format, version } = toFields(value)
  if (format !== exportFormat)
    throw new Error('This is not an export of a registry: its first line does not name the format.')
  if (version !== exportVersion) {
    throw new Error(
      `The export has format version ${String(version)}, but this program supports ${exportVersion}. Update the program.`,
    )
  }
  const { success, output, issues } = v.safeParse(ExportHeader, value)
  if (!success) throw new Error(`Line 1 is malformed: ${v.getDotPath(issues[0]) ?? 'it'} is invalid.`)
  const problem = findUnknownSteps(output.schema, extensions)
  if (problem) throw new Error(`This export ${problem.detail}`)
  if (isOlderSchema(output.schema, extensions)) {
    throw new Error(
      'The export was made by an older Skillstead. Import it with that version, migrate the registry with this version, and export it again.',
    )
  }
  return output
}

/** Parses the last line of an export; throws if it is malformed. */
export function toFooter({ value, number }: ExportLine): ExportFooter {
  const { success, output } = v.safeParse(ExportFooter, value)
  if (!success)
    throw new Error(
      `Line ${number} is malformed: it should be the summary that ends an export. Is the file complete? Export it again.`,
    )
  return output
}

async function* readExportValues(
  first: readonly Uint8Array[],
  batches: AsyncGenerator<Uint8Array[]>,
): AsyncGenerator<ExportLine[]> {
  let number = 1
  const toValues = (lines: readonly Uint8Array[]) =>
    lines.map((bytes) => ({ number: (number += 1), bytes, value: parseExportLine(bytes, number) }))
  yield toValues(first)
  for await (const lines of batches) yield toValues(lines)
}

function parseExportLine(line: Uint8Array, number: number): unknown {
  try {
    return JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('utf8'))
  } catch (cause) {
    throw new Error(`Line ${number} is malformed: it is not JSON.`, { cause })
  }
}

/** The lines of a stream with their line ends, grouped by chunk. */
async function* readExportLines(input: Readable): AsyncGenerator<Uint8Array[]> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of readExportChunks(input)) {
    const lines: Uint8Array[] = []
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const rest = chunk.subarray(start, end + 1)
      lines.push(parts.length > 0 ? Buffer.concat([...parts, rest]) : rest)
      parts = []
      length = 0
      start = end + 1
    }
    const rest = chunk.subarray(start)
    length += rest.length
    if (length > lineBytesMax) throw new Error('This is not an export of a registry: a line is longer than 64 MiB.')
    if (rest.length > 0) parts.push(rest)
    if (lines.length > 0) yield lines
  }
  if (length > 0) throw toTruncated()
}

async function* readExportChunks(input: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of input) yield chunk
  } catch (cause) {
    // zlib reports only "unexpected end of file", which does not name the export.
    throw /^(Z_|ZSTD_)/.test(String(readErrorCode(cause))) ? toTruncated(cause) : cause
  }
}

/** The error for a truncated file. */
export function toTruncated(cause?: unknown): Error {
  return new Error(
    'The export is truncated or damaged: its end is missing. Nothing was imported. Export the registry again.',
    {
      cause,
    },
  )
}

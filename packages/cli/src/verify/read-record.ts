import { readFileSync, statSync } from 'node:fs'
import { parseForeignJson } from '@skillstead/protocol'

/** The maximum size of a record: several times a record with the longest log entry and the longest fork chain. */
const recordBytesMax = 1024 * 1024

/** The JSON of a file that should be a provenance record. */
export function readRecordFile(file: string): unknown {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) throw new Error(`${file} does not exist.`)
  if (stats.isDirectory()) throw new Error(`${file} is a folder, not a record. Pass the file of a record.`)
  if (stats.size > recordBytesMax)
    throw new Error(`${file} is not a record: it has ${stats.size} bytes, and records have at most ${recordBytesMax}.`)
  const { text, value } = readJsonFile(file)
  // The parser drops duplicate fields, so a value with fewer strings than the text had duplicate fields.
  if (countTexts(text) === countTexts(JSON.stringify(value))) return value
  throw new Error(`${file} has a duplicate field, which different readers could read differently.`)
}

/** The JSON of a file, with its text. Throws if it is not JSON. */
export function readJsonFile(file: string): { text: string; value: unknown } {
  const bytes = readFileSync(file)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { text, value: parseForeignJson(text) }
  } catch {
    throw new Error(`${file} is not JSON.`)
  }
}

function countTexts(json: string): number {
  return json.match(/"(?:[^"\\]|\\.)*"/g)?.length ?? 0
}

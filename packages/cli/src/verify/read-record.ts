import { readFileSync, statSync } from 'node:fs'
import { parseForeignJson } from '@skillstead/protocol'

/** Several times what the longest entry of a log and the longest fork chain make of a record. */
const recordBytesMax = 1024 * 1024

/** The JSON of a file that is said to be a provenance record. */
export function readRecord(file: string): unknown {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) throw new Error(`There is nothing at ${file}.`)
  if (stats.isDirectory()) throw new Error(`${file} is a folder, and no record.`)
  if (stats.size > recordBytesMax)
    throw new Error(`${file} is no record: it has ${stats.size} bytes, and no record has more than ${recordBytesMax}.`)
  const { text, value } = readJson(file)
  // A parser keeps one of two fields of a name, so what it read has fewer texts than what is written.
  if (countTexts(text) === countTexts(JSON.stringify(value))) return value
  throw new Error(`${file} has a field twice, of which every reader could take another.`)
}

function readJson(file: string): { text: string; value: unknown } {
  const bytes = readFileSync(file)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { text, value: parseForeignJson(text) }
  } catch {
    throw new Error(`${file} holds no JSON.`)
  }
}

function countTexts(json: string): number {
  return json.match(/"(?:[^"\\]|\\.)*"/g)?.length ?? 0
}

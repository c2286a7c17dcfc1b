import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { SearchTables } from './search-tables.ts'

/** The tables in the order in which they are stored. Of those that mostly ascend, the differences are. */
const kinds = {
  patternsFrom: 'ascending',
  kinds: 'any',
  aheads: 'any',
  needsFrom: 'ascending',
  needs: 'any',
  distancesFrom: 'ascending',
  distances: 'any',
  texts: 'ascending',
  textsFrom: 'ascending',
  sets: 'any',
  setsFrom: 'ascending',
  lengths: 'any',
  units: 'any',
  compared: 'any',
  used: 'any',
  symbols: 'any',
  children: 'ascending',
  suffixes: 'any',
  outputs: 'any',
  words: 'any',
  wordsFrom: 'ascending',
} as const satisfies Record<keyof SearchTables, 'ascending' | 'any'>
const names = Object.keys(kinds) as (keyof SearchTables)[]

/** The first number, by which a machine with another order of bytes is recognized. */
const mark = 0x0102
/** More than the usual size of all tables, so that they are decompressed in one step. */
const chunkSize = 1024 * 1024

/** Writes tables as a short text, for {@link readStoredTables}. */
export function storeTables(tables: SearchTables): string {
  const lengths = names.flatMap((name) => [tables[name].length >>> 16, tables[name].length & 0xffff])
  const numbers = Uint16Array.from([mark, ...lengths, ...names.flatMap((name) => [...toStored(name, tables[name])])])
  return deflateRawSync(numbers, { level: 9 }).toString('base64')
}

const toStored = (name: keyof SearchTables, table: Uint16Array) =>
  kinds[name] === 'ascending' ? table.map((each, index) => each - (table[index - 1] ?? 0)) : table

/** Reads what {@link storeTables} wrote: the tables are views of one buffer. */
export function readStoredTables(stored: string): SearchTables {
  const bytes = inflateRawSync(Buffer.from(stored, 'base64'), { chunkSize })
  const numbers = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2)
  if (numbers[0] !== mark) bytes.swap16()
  let from = 1 + 2 * names.length
  const entries = names.map((name, index) => {
    const length = numbers[1 + 2 * index]! * 65_536 + numbers[2 + 2 * index]!
    from += length
    const table = numbers.subarray(from - length, from)
    if (kinds[name] === 'ascending') for (let at = 1; at < length; at++) table[at]! += table[at - 1]!
    return [name, table] as const
  })
  return Object.fromEntries(entries) as Record<keyof SearchTables, Uint16Array>
}

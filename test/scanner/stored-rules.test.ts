import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { computeRulesVersion } from '../../packages/scanner/src/rules/compute-rules-version.ts'
import { listTables } from '../../packages/scanner/src/rules/list-tables.ts'
import { readTraits } from '../../packages/scanner/src/match/match.ts'
import { toTables, toTraits } from '../../packages/scanner/src/match/search-tables.ts'
import { readStoredTables, storeTables } from '../../packages/scanner/src/match/stored-tables.ts'

describe('the version of the rules', () => {
  it('is of these rules: this file run with -u writes it', async () => {
    const lines = [
      '/** Identifies the engine and the rules: versions with a report of another engine or other rules are scanned again. */',
      `export const rulesVersion = '${computeRulesVersion()}'`,
    ]
    const path = '../../packages/scanner/src/rules/rules-version.ts'
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(path)
  })
})

describe('what packages are built with', () => {
  it('are the tables that are derived from the patterns', () => {
    const tables = listTables()
    expect(readStoredTables(storeTables(tables))).toEqual(tables)
    expect(toTables(toTraits(tables))).toEqual(tables)
  })

  it('is read on a machine with another order of bytes', () => {
    const tables = toTables([[readTraits(/red fox/), readTraits(/lazy dog/)]])
    const bytes = inflateRawSync(Buffer.from(storeTables(tables), 'base64')).swap16()
    expect(readStoredTables(deflateRawSync(bytes).toString('base64'))).toEqual(tables)
  })
})

import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import type { Registry } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { expect, it, onTestFinished } from 'vitest'
import { listUnread, omitFields, readAnswers, type Answers } from '../fixtures/upgrade/answers.ts'
import { createStoppedClock, type UpgradeFile, upgradePath } from '../fixtures/upgrade/upgrade-file.ts'
import { loadSchema, unpack } from '../fixtures/schemas/schema-file.ts'
import { describeDatabases } from '../support/harness.ts'
import { exportRegistry, openRegistry } from '../support/open-registry.ts'
import { makeEmptyPlace, type Location } from '../support/places.ts'

const file = unpack<UpgradeFile>(upgradePath)

it('the stored responses for the upgrade test cover every endpoint that reads stored data', () => {
  expect(listUnread(file.answers)).toEqual([])
})

describeDatabases('a registry of 500 skills that the program at commit 98873b4a created', (_open, dialect) => {
  it('returns the same responses and exports the same data after an upgrade', async () => {
    const { location, remove } = await makeEmptyPlace(dialect)
    onTestFinished(remove)
    await loadSchema(file, dialect, location)
    await (await open(location)).close()
    expect(await readExport(location)).toEqual(file.exported.tables)
    const registry = await open(location)
    await partsOf(registry).search.warmed
    const answers = await readAnswers(registry, file.users)
    await registry.close()
    const [found, wanted] = [answers, file.answers].map((one) => omitFields(one, isAdded) as Answers) as [
      Answers,
      Answers,
    ]
    const differing = listDiffering(found, wanted)
    expect(differing.map((label) => [label, found[label]])).toEqual(differing.map((label) => [label, wanted[label]]))
  })
})

/** The fields of answers that later programs added, with the values that they have after an upgrade. */
const added: Readonly<Record<string, (value: unknown) => boolean>> = {
  made: () => true,
  madeBy: () => true,
  notices: () => true,
  email: (value) => value === null,
  kind: (value) => value === 'user',
  reason: (value) => value === 'policy' || value === 'rescan',
  reviews: isEmptyList,
  comments: isEmptyList,
  mayReview: (value) => value === false,
  limitedTo: (value) => value === null,
  dependents: (value) => value === 0,
  requires: (value) => Object.values(value as object).every(isEmptyList),
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function isAdded(name: string, value: unknown): boolean {
  return added[name]?.(value) === true
}

const shownMax = 5

/** The first labels of answers that differ: a failed test shows only these of 2000. */
function listDiffering(found: Answers, wanted: Answers): string[] {
  const labels = [...new Set([...Object.keys(found), ...Object.keys(wanted)])]
  return labels.filter((label) => !isDeepStrictEqual(found[label], wanted[label])).slice(0, shownMax)
}

/** No job runs: a scan by the rules of this program would change stored reports. */
function open(location: Location): Promise<Registry> {
  return openRegistry({ ...location, works: false, clock: createStoppedClock(file.atMs) })
}

/** The digests of the exported tables, with the columns that they had before the upgrade. */
async function readExport(location: Location): Promise<UpgradeFile['exported']['tables']> {
  const chunks: Buffer[] = []
  const to = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  await exportRegistry(location, to)
  const [header, ...lines] = Buffer.concat(chunks).toString().trimEnd().split('\n')
  const { tables: columns } = JSON.parse(header!) as { tables: UpgradeFile['exported']['columns'] }
  const sums = new Map(
    Object.keys(file.exported.tables).map((table) => [table, { rows: 0, hash: createHash('sha256') }]),
  )
  for (const line of lines.slice(0, -1)) {
    const [table, ...row] = JSON.parse(line) as [string, ...unknown[]]
    const sum = sums.get(table)
    // A step of the schema has the skills indexed again: this row is there until that is done.
    if (!sum || (table === 'meta' && row.includes('texts.indexed'))) continue
    const names = Object.keys(columns[table]!)
    const before = Object.keys(file.exported.columns[table]!).map((name) => row[names.indexOf(name)])
    sum.rows += 1
    sum.hash.update(`${JSON.stringify([table, ...before])}\n`)
  }
  return Object.fromEntries(
    [...sums].map(([table, { rows, hash }]) => [table, { rows, digest: `sha256:${hash.digest('hex')}` }]),
  )
}

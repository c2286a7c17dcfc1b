import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Registry, RegistryOptions } from '@skillstead/core'
import {
  partsOf,
  proveInclusion,
  readSignedCheckpoint,
  type StorageContext,
  toEntryText,
  appendChange,
  type LogDraft,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { checkLog } from '../../packages/maintenance/src/doctor/check-log.ts'
import { readTile } from '../../packages/core/src/log/tiles.ts'
import { startPostgres } from '../support/postgres.ts'
import { fromRows, type Figure } from './figures.ts'
import { makeScratch } from './scratch.ts'
import { median, quantile } from './statistics.ts'
import { openRegistry } from '../support/open-registry.ts'

const batch = 1000
const appends = 5000
const rounds = 2000

/** The entry of a version with six files, 1.4 kB. */
const typical = toDraft(0, {
  files: Array.from({ length: 6 }, (_, i) => ({
    path: `references/${i}.md`,
    size: 2000 + i,
    digest: `sha256:${'7e'.repeat(32)}`,
  })),
  description: 'Reads, fills, splits and merges PDF documents, and extracts their tables. Use it for anything in PDF.',
  changelog: 'Tables that go over several pages stay whole.',
})

/**
 * Prints what the Merkle tree costs an append, side by side with a log that has none; then fills the log with so many
 * entries, and prints what appending, signing and proving cost there. On both databases unless one is named.
 */
export async function benchLogs(
  { sqlite, postgres }: { sqlite: boolean; postgres: boolean },
  entries = 1_000_000,
): Promise<Figure[]> {
  const figures: Figure[] = []
  if (sqlite) {
    const folder = makeScratch('log')
    const places = [{ path: join(folder, 'tree.db') }, { path: join(folder, 'plain.db') }] as const
    figures.push(...(await benchLog('SQLite', places, entries)))
    await rm(folder, { recursive: true, force: true })
  }
  if (postgres) {
    const server = await startPostgres()
    const create = async () => ({ databaseUrl: await server.createDatabase() })
    figures.push(...(await benchLog('PostgreSQL', [await create(), await create()], entries)))
    await server.stop()
  }
  return figures
}

async function benchLog(
  title: string,
  [location, plain]: readonly [RegistryOptions, RegistryOptions],
  entries: number,
): Promise<Figure[]> {
  const registry = await openRegistry({ ...location, works: false, memorySkillsMax: 0 })
  const without = await openRegistry({ ...plain, works: false, memorySkillsMax: 0 })
  const append = (trx: WriteTransaction) =>
    appendChange(trx, { kind: 'counters', subject: 'bench', at: 0, entries: [typical] })
  const costs = await timeAppends([
    [registry, append],
    [without, appendWithoutTree],
  ])
  await without.close()
  console.log(
    `\nAppending an entry of ${Buffer.byteLength(JSON.stringify(typical))} bytes on ${title}, ${appends} times (ms)`,
  )
  console.table({ 'with the tree': costs[0], without: costs[1] })

  const fillMs = await timed(() => fill(partsOf(registry), entries))
  const { treeSize } = await readSignedCheckpoint(partsOf(registry))
  const [at] = await timeAppends([[registry, append]])
  console.log(
    `\nA log of ${treeSize} entries on ${title}: filled by ${Math.round(entries / (fillMs / 1000))} entries/s (ms)`,
  )
  const rows = { append: at!, ...(await timeReads(registry)) }
  console.table(rows)
  const checkMs = await timed(async () => console.log((await checkLog(partsOf(registry))).detail))
  console.log(`looked through in ${(checkMs / 1000).toFixed(1)} s`)
  await registry.close()
  const part = `The log with ${treeSize.toLocaleString('en')} entries, ${title}`
  return fromRows(part, rows, { column: 'median', unit: 'ms' })
}

type Append = (trx: WriteTransaction) => Promise<unknown>

/** Within the transaction, and until it is answered; in turns, so that all have the same machine. */
async function timeAppends(kinds: readonly (readonly [Registry, Append])[]) {
  const inside = kinds.map((): number[] => [])
  const answered = kinds.map((): number[] => [])
  for (let i = 0; i < appends; i++) {
    for (const [kind, [registry, append]] of kinds.entries()) {
      answered[kind]!.push(
        await timed(() =>
          partsOf(registry).database.writer.write(
            async (trx) => void inside[kind]!.push(await timed(() => append(trx))),
          ),
        ),
      )
    }
  }
  return kinds.map((_, kind) => ({ ...toFigures(inside[kind]!), answered: round(median(answered[kind]!)) }))
}

/** What an append was before there was a tree. */
async function appendWithoutTree(trx: WriteTransaction): Promise<void> {
  const head = await trx
    .updateTable('heads')
    .set((eb) => ({ change_seq: eb('change_seq', '+', 1), log_seq: eb('log_seq', '+', 1) }))
    .returning(['change_seq', 'log_seq'])
    .executeTakeFirstOrThrow()
  await trx.insertInto('changes').values({ seq: head.change_seq, kind: 'counters', subject: 'bench', at: 0 }).execute()
  const { type, subject, digest } = typical
  const entry = toEntryText({ ...typical, seq: head.log_seq, at: new Date(0).toISOString() })
  const row = { seq: head.log_seq, hash: Buffer.alloc(0), type, at: 0, subject, digest, entry }
  await trx.insertInto('log').values(row).execute()
}

async function fill({ database }: StorageContext, count: number): Promise<void> {
  for (let i = 0; i < count; i += batch) {
    const entries = Array.from({ length: batch }, (_, j) => toDraft(i + j, {}))
    await database.writer.write((trx) => appendChange(trx, { kind: 'counters', subject: 'bench', at: 0, entries }))
  }
}

async function timeReads(registry: Registry) {
  const { treeSize } = await readSignedCheckpoint(partsOf(registry))
  const anywhere = () => Math.floor(Math.random() * treeSize)
  const fullTile = () => Math.floor(Math.random() * Math.floor(treeSize / 256))
  const forget = () => partsOf(registry).transparency.tiles.clear()
  const tile = (level: string) => readTile(partsOf(registry), { path: `${level}/${toGroups(fullTile())}` })
  return {
    'a query of one row, for comparison': await time(() => readHead(partsOf(registry))),
    'root and signature': await time(
      () => readSignedCheckpoint(partsOf(registry)),
      () => partsOf(registry).transparency.checkpoints.clear(),
    ),
    'cached checkpoint': await time(() => readSignedCheckpoint(partsOf(registry))),
    'inclusion proof, not cached': await time(() => proveInclusion(partsOf(registry), anywhere(), treeSize), forget),
    'inclusion proof': await time(() => proveInclusion(partsOf(registry), anywhere(), treeSize)),
    'tile of hashes, not cached': await time(() => tile('0'), forget),
    'bundle of entries': await time(() => tile('entries')),
  }
}

function readHead({ database }: StorageContext): Promise<unknown> {
  return database.read.selectFrom('heads').select('log_seq').execute()
}

async function time(work: () => Promise<unknown>, before: () => void = () => {}) {
  const times: number[] = []
  for (let i = 0; i < rounds; i++) {
    before()
    times.push(await timed(work))
  }
  return toFigures(times)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

function toDraft(number: number, more: Record<string, unknown>): LogDraft {
  const data = { owner: { username: 'bench' }, skill: { fullName: `bench/skill-${number}` }, version: '1.0.0', ...more }
  return { type: 'version', subject: `bench/skill-${number}@1.0.0`, digest: `sha256:${'5a'.repeat(32)}`, data }
}

function toGroups(n: number): string {
  const digits = `${n}`.padStart(Math.ceil(`${n}`.length / 3) * 3, '0')
  return digits.replaceAll(/\d{3}(?=\d)/g, 'x$&/')
}

function toFigures(times: readonly number[]) {
  return { median: round(median(times)), p99: round(quantile(times, 0.99)) }
}

function round(ms: number): number {
  return Math.round(1000 * ms) / 1000
}

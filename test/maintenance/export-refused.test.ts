import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { localApi, openRegistry as openCoreRegistry, systemCaller } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { exportRegistry as exportPlain, importRegistry as importPlain } from '@skillstead/maintenance'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { toTableRules } from '../../packages/maintenance/src/transfer/portable-tables.ts'
import { ExportSums } from '../../packages/maintenance/src/transfer/format.ts'
import { skillMd } from '../support/answers.ts'
import { reopen } from '../support/export-acts.ts'
import { makePlace, type DialectName } from '../support/places.ts'
import { exportRegistry, importRegistry, openDatabase, openRegistry, extensions } from '../support/open-registry.ts'

const portableNames = [...toTableRules(extensions).keys()]

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'export-refused-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

const newPath = (name: string) => join(folder, name, 'skillstead.db')
const hasPostgres = () => inject('postgresUrl') !== null

/** The files or rows that an import left. */
async function listLeft(location: { path?: string; databaseUrl?: string }): Promise<unknown[]> {
  if (location.path !== undefined) return readdir(join(location.path, '..')).catch(() => [])
  const database = await openDatabase(location)
  const counts = portableNames.map((table) =>
    sql<object>`select * from ${sql.table(table)} limit 2`.execute(database.read),
  )
  const left = (await Promise.all(counts)).flatMap(({ rows }) => rows)
  await database.close()
  return left.filter((row) => !('log_seq' in row && row.log_seq === 0))
}

/** Adds a matching last line, as a forger of an export would. */
function reseal(lines: readonly string[]): string {
  const sums = new ExportSums(lines[0]!)
  for (const line of lines.slice(1, -1)) sums.add((JSON.parse(line) as [string])[0], 1, line)
  return [...lines.slice(0, -1), `${JSON.stringify(sums.toFooter(portableNames))}\n`].join('')
}

describe('an incomplete or invalid export', () => {
  let small: { path: string; lines: string[]; bytes: Buffer }
  let tried = 0
  beforeAll(async () => {
    const path = newPath('small')
    await mkdir(join(folder, 'small'))
    const registry = await openRegistry({ path, works: false })
    await localApi(registry, systemCaller).createUser({ username: 'alice' })
    await localApi(registry, await registry.getCaller('alice')).publishSkill({ skillMd: skillMd('one') })
    await registry.close()
    const file = join(folder, 'small.ndjson')
    await exportRegistry({ path }, file)
    const bytes = await readFile(file)
    small = { path, bytes, lines: bytes.toString().split(/(?<=\n)/) }
  })

  /** The error of a refused import; fails if the import left anything. */
  async function refuse(bytes: Uint8Array | string, dialect: DialectName = 'SQLite'): Promise<string> {
    const name = `refused-${(tried += 1)}`
    const file = join(folder, name)
    await writeFile(`${file}.ndjson`, bytes)
    const place =
      dialect === 'SQLite' ? { location: { path: newPath(name) }, remove: async () => {} } : await makePlace(dialect)
    const error = await importRegistry(`${file}.ndjson`, place.location).then(
      () => new Error('It was taken in.'),
      (reason: Error) => reason,
    )
    expect(await listLeft(place.location)).toEqual([])
    await place.remove()
    return error.message
  }

  it('is refused if it is truncated at any position', async () => {
    const { bytes, lines } = small
    const cuts = [bytes.length - 1, bytes.length - 40, bytes.length >> 1, lines[0]!.length + 3]
    for (const cut of cuts) expect(await refuse(bytes.subarray(0, cut))).toContain('truncated or damaged')
    expect(await refuse(lines.slice(0, -1).join(''))).toContain('truncated or damaged')
    const zipped = gzipSync(bytes)
    expect(gunzipSync(zipped)).toEqual(bytes)
    expect(await refuse(zipped.subarray(0, zipped.length - 30))).toContain('truncated or damaged')
    expect(await refuse('')).toContain('is empty')
  })

  it('is refused if a line is missing, repeated, changed, or after the end', async () => {
    const { lines } = small
    const [at, row] = [
      lines.findIndex((line) => line.startsWith('["audit"')),
      lines.find((line) => line.startsWith('["audit"'))!,
    ]
    expect(await refuse(lines.toSpliced(at, 1).join(''))).toContain('is damaged')
    expect(await refuse(lines.toSpliced(at, 1, row.replace('user.create', 'user.delete')).join(''))).toContain(
      'is damaged',
    )
    expect(await refuse(lines.toSpliced(at, 0, row).join(''))).toMatch(
      /rows up to line \d+ cannot be stored in the table audit/,
    )
    expect(await refuse([...lines, row].join(''))).toContain('comes after the end')
    expect(await refuse(lines.join('').replace('"origin":"', '"origin":"x'))).toContain('is damaged')
    expect(await refuse(lines.join('').replace('"createdAt":"2', '"createdAt":"3'))).toContain('is damaged')
  })

  it('is refused with an error that states the line, table and column of malformed data', async () => {
    const { lines } = small
    const text = lines.join('')
    const at = lines.findIndex((line) => line.startsWith('["users"'))
    const edit = (line: string) => lines.toSpliced(at, 1, `${line}\n`).join('')
    const values = JSON.parse(lines[at]!) as unknown[]
    expect(await refuse(edit('["users",'))).toBe(`Line ${at + 1} is malformed: it is not JSON.`)
    expect(await refuse(edit('["users","x"]'))).toContain(
      `is malformed: users has ${values.length - 1} columns, not 1.`,
    )
    expect(await refuse(edit(JSON.stringify(values.with(8, 'soon'))))).toContain('users.created_at must be integer.')
    expect(await refuse(edit(JSON.stringify(values.with(2, null))))).toContain('users.username must be text.')
    expect(await refuse(edit('["robots","x"]'))).toContain('has an unknown table robots.')
    expect(await refuse(edit('["meta","a","b"]'))).toContain('a row of meta comes after rows of')
    expect(await refuse(text.replace('"users":{', '"robots":{},"users":{'))).toContain('has an unknown table robots')
    expect(await refuse(text.replace('"users":{', '"users":{"age":"integer",'))).toContain(
      'has an unknown column users.age',
    )
    expect(await refuse(text.replace('"username":"text"', '"username":"bytes"'))).toContain(
      'users.username is bytes in the export',
    )
  })

  it('is refused if another program or an incompatible version of Skillstead wrote it', async () => {
    const text = small.lines.join('')
    expect(await refuse('{"id":"a","skillMd":"---"}\n')).toContain('This is not an export of a registry')
    expect(await refuse(text.replace('"version":1', '"version":2'))).toContain('has format version 2')
    expect(await refuse(text.replace('"schema":[', '"schema":["9999-later",'))).toContain(
      'a newer Skillstead (it has 9999-later)',
    )
    expect(await refuse(text.replace('"0001-first"', '"0001-foundation"'))).toContain('a development version')
    expect(await refuse(text.replace('"0001-first",', ''))).toContain('an older Skillstead')
  })

  it('is refused if it has mirror tables and the mirror extension is missing, but not if it lacks mirror tables', async () => {
    const file = join(folder, 'mirror.ndjson')
    await writeFile(file, small.bytes)
    await expect(importPlain(file, { path: newPath('plain') })).rejects.toThrow('has tables of @skillstead/mirror')
    await expect(exportPlain({ path: small.path }, join(folder, 'no.ndjson'))).rejects.toThrow(
      'has tables of @skillstead/mirror',
    )
    const path = join(folder, 'plain.db')
    await (await openCoreRegistry({ path, works: false })).close()
    const plain = await exportRegistry({ path }, join(folder, 'plain.ndjson'))
    expect(Object.keys(plain.tables)).not.toContain('upstreams')
    const taken = await importRegistry(join(folder, 'plain.ndjson'), { path: newPath('mirror') })
    expect(taken.digest).toBe(plain.digest)
  })

  it('is refused if its digests are right but its data is inconsistent', async () => {
    const { lines } = small
    const at = lines.findIndex((line) => line.startsWith('["blobs"'))
    const [table, digest, size, encoding, bytes, place] = JSON.parse(lines[at]!) as string[]
    const other = [table, digest, size, encoding, Buffer.from(bytes!, 'base64').fill(7, 3).toString('base64'), place]
    const spoilt = lines.toSpliced(at, 1, `${JSON.stringify(other)}\n`)
    expect(await refuse(reseal(spoilt))).toBe(
      `The export is damaged: Content ${digest} does not match its digest. Nothing was imported.`,
    )
    expect(await refuse(reseal(lines.toSpliced(at, 1)))).toContain(`Content ${digest} of a version is missing.`)
    const file = lines.findIndex((line) => line.startsWith('["version_files"'))
    expect(await refuse(reseal(lines.toSpliced(file, 1)))).toContain('alice/one@1.0.0 has no SKILL.md')
    const entry = lines.findIndex((line) => line.startsWith('["log"'))
    expect(await refuse(reseal(lines.toSpliced(entry, 1)))).toContain("The log's entry 1 is missing.")
    expect(await refuse(reseal(lines.with(0, lines[0]!.replace('"size":1', '"size":2'))))).toContain(
      'its log is not the one that its first line describes',
    )
    const owner = lines.findIndex((line) => line.startsWith('["users"'))
    expect(await refuse(reseal(lines.toSpliced(owner, 1)))).toMatch(
      /rows up to line \d+ cannot be stored .*FOREIGN KEY/,
    )
  })

  it.runIf(hasPostgres())('leaves an empty PostgreSQL database empty', async () => {
    const { bytes, lines } = small
    expect(await refuse(bytes.subarray(0, -40), 'PostgreSQL')).toContain('truncated or damaged')
    const at = lines.findIndex((line) => line.startsWith('["users"'))
    const zero = lines.toSpliced(at, 1, lines[at]!.replace('"alice"', '"al\\u0000ice"')).join('')
    expect(await refuse(zero, 'PostgreSQL')).toContain(
      'users.username contains a NUL character, which PostgreSQL cannot store',
    )
  })

  it('is never created from a registry with an older schema, or from a registry that does not exist', async () => {
    const path = join(folder, 'older.db')
    await copyFile(small.path, path)
    const registry = await reopen({ path })
    await partsOf(registry).database.writer.write((trx) =>
      sql`delete from migrations where name = '0001-first'`.execute(trx),
    )
    await registry.close()
    await expect(exportRegistry({ path }, join(folder, 'no.ndjson'))).rejects.toThrow('created by an older Skillstead')
    await expect(exportRegistry({ path: join(folder, 'none.db') }, join(folder, 'no.ndjson'))).rejects.toThrow(
      'no registry at',
    )
    expect(await readdir(folder)).not.toContain('none.db')
  })
})

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { partsOf } from '@skillstead/core/internal'
import type { ExportSummary, ImportSummary, RestoreSummary } from '@skillstead/maintenance'
import { sql } from 'kysely'
import { expect, inject, it } from 'vitest'
import { makeFolder, skillstead, skillsteadJson, skillsteadProcess, startServer } from '../support/cli-harness.ts'
import { makePlace } from '../support/places.ts'
import { openRegistry } from '../support/open-registry.ts'

const skill = '---\nname: pdf\ndescription: Reads PDF files\n---\n# PDF\n\nReads them.\n'

/** A folder with a registry of one skill. */
async function makeRegistry() {
  const folder = await makeFolder()
  const data = join(folder, 'data')
  await mkdir(join(folder, 'pdf'))
  await writeFile(join(folder, 'pdf', 'SKILL.md'), skill)
  await skillsteadJson(['import', join(folder, 'pdf'), '--owner', 'alice', '--data', data])
  return { folder, data }
}

const countSkills = async (options: string[]) =>
  (await skillsteadJson<{ total: number }>(['search', 'pdf', ...options])).total

it('`export` and `import` copy a registry while a node serves it', async () => {
  const { folder, data } = await makeRegistry()
  const server = await startServer(['serve', '--data', data, '--port', '0', '--backup-every', '1d'])
  const file = join(folder, 'all.ndjson.gz')
  const written = await skillsteadJson<ExportSummary & { file: string }>(['export', file, '--data', data])
  expect(written).toMatchObject({ file, epoch: 1, tables: { skills: { rows: 1 }, versions: { rows: 1 } } })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  await expect
    .poll(async () => (await readdir(join(data, 'backups'))).filter((name) => name.endsWith('.scheduled.db')))
    .toHaveLength(1)
  await server.stop()

  const copy = join(folder, 'copy')
  const { code, stdout } = await skillstead(['import', file, '--data', copy])
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining('1 skills, 1 versions, 1 log entries'),
  })
  expect(stdout).toMatch(/A new epoch begins: \d{10}\. Mirrors of this registry pause until .* --accept epoch\./)
  expect(await countSkills(['--data', copy])).toBe(1)
  const refused = await skillstead(['import', file, '--data', copy])
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('There is already a registry in') })
  const owned = await skillstead(['import', file, '--owner', 'bob', '--data', join(folder, 'owned')])
  expect(owned).toMatchObject({ code: 2, stderr: expect.stringContaining('--owner cannot be used with an export') })
  expect(existsSync(join(folder, 'owned'))).toBe(false)
})

const isMissing = inject('postgresUrl') === null
const skipped = isMissing ? ': skipped, for PostgreSQL could not be started' : ''

it.skipIf(isMissing)(`export and import move a registry to PostgreSQL and back${skipped}`, async () => {
  const { folder, data } = await makeRegistry()
  const file = join(folder, 'all.ndjson.gz')
  const written = await skillsteadJson<ExportSummary>(['export', file, '--data', data])
  const { location, remove } = await makePlace('PostgreSQL')
  const url = ['--database-url', location.databaseUrl!]
  expect(await skillsteadJson<ImportSummary>(['import', file, ...url])).toMatchObject({
    tables: written.tables,
    secretKey: 'not needed',
  })
  const lines = await skillsteadProcess(['export', '-', ...url])
  expect(lines).toMatchObject({ code: 0, stderr: '' })
  const back = join(folder, 'back.ndjson')
  await writeFile(back, lines.stdout)
  expect((await skillsteadJson<ImportSummary>(['import', back, '--data', join(folder, 'back')])).digest).toBe(
    written.digest,
  )
  await remove()
})

it('`restore` creates a registry from a backup, and reports a missing secret key', async () => {
  const { folder, data } = await makeRegistry()
  const registry = await openRegistry({ path: join(data, 'skillstead.db'), works: false, secretKey: randomBytes(32) })
  const credential = partsOf(registry).secrets.seal('sk_secret')
  await partsOf(registry).database.writer.write((trx) =>
    sql`insert into upstreams (name, created_at, frontier, kind, location, settings, keys, cursor, report, credential)
      values ('up', 0, x'', 'node', 'https://up.example', '{}', '[]', 'null', 'null', ${credential})`.execute(trx),
  )
  await registry.close()
  const backup = join(folder, 'backup.db')
  await skillsteadJson(['backup', backup, '--data', data])
  const before = await readFile(backup)

  const restored = join(folder, 'restored')
  const { code, stdout } = await skillstead(['restore', backup, '--data', restored])
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining('with 1 log entries. It is intact.'),
  })
  expect(stdout).toContain('Its secret key is missing: 1 upstream API keys cannot be decrypted. Restore secret.key')
  expect(existsSync(join(restored, 'secret.key')), 'none is made in its place').toBe(false)
  expect(await countSkills(['--data', restored])).toBe(1)
  const again = await skillstead(['restore', backup, '--data', restored])
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('There is already a registry in') })

  const other = join(folder, 'other')
  await mkdir(other)
  await writeFile(join(other, 'secret.key'), randomBytes(32).toString('base64'))
  expect(await skillsteadJson<RestoreSummary>(['restore', backup, '--data', other])).toMatchObject({
    secretKey: 'wrong',
  })
  expect(Buffer.compare(await readFile(backup), before), 'the backup stays as it was').toBe(0)
  const lines = join(folder, 'lines.ndjson')
  await skillsteadJson(['export', lines, '--data', data])
  const notOne = await skillstead(['restore', lines, '--data', join(folder, 'empty')])
  expect(notOne).toMatchObject({
    code: 1,
    stderr: 'The backup cannot be read: file is not a database. Nothing was restored.\n',
  })
  expect(await readdir(join(folder, 'empty'))).toEqual([])
  await rm(backup)
  for (const file of [backup, folder]) {
    const missing = await skillstead(['restore', file, '--data', join(folder, 'none')])
    expect(missing).toMatchObject({ code: 2, stderr: `The file ${file} does not exist.\n` })
  }
  expect(existsSync(join(folder, 'none'))).toBe(false)
})

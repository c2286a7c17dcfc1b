import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { localApi, systemCaller } from '@skillstead/core'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from '../../packages/core/src/storage/sqlite/sqlite.ts'
import { skillMd } from '../support/answers.ts'
import { openRegistry } from '../support/open-registry.ts'

const run = promisify(execFile)

async function makePath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'skillstead-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'skillstead.db')
}

test('commits are copied from the SQLite journal to the database file in the background', async () => {
  const path = await makePath()
  const registry = await openRegistry({ path, works: false })
  onTestFinished(() => registry.close())
  await localApi(registry, systemCaller).createUser({ username: 'alice' })
  const alice = localApi(registry, await registry.getCaller('alice'))
  for (let i = 0; i < 40; i++) await alice.publishSkill({ skillMd: skillMd(`skill-${i}`) })

  let copies = 0
  await expect.poll(async () => countSkills(path, `${path}-${copies++}.db`), { timeout: 60_000 }).toBe(40)
  await registry.close()
  expect(await countSkills(path, `${path}-closed.db`)).toBe(40)
})

test('the committing thread copies the SQLite journal if no background thread can be started', async () => {
  const file = fileURLToPath(new URL('../../packages/core/src/storage/sqlite/checkpoints.ts', import.meta.url))
  const program = `
    const { createCheckpoints } = await import(${JSON.stringify(file)})
    const goOn = setInterval(() => {}, 1000)
    const checkpoints = createCheckpoints('skillstead.db', () => {
      console.log('alone')
      clearInterval(goOn)
    })
    for (let i = 0; i < 40; i++) checkpoints.committed()`
  const options = ['--permission', '--allow-fs-read=*', '--conditions=source', '--input-type=module']
  const { stdout } = await run(process.execPath, [...options, '--eval', program])
  expect(stdout).toBe('alone\n')
})

test('the SQLite journal shrinks again after a long read transaction ends', async () => {
  const path = await makePath()
  const [database, other] = [openSqlite(path), openSqlite(path)]
  onTestFinished(async () => {
    await other.close()
    await database.close()
  })
  const size = async () => (await stat(`${path}-wal`)).size
  await sql`create table t (bytes blob)`.execute(database.main)
  const reading = await other.read.startTransaction().execute()
  await sql`select count(*) from t`.execute(reading)
  for (let i = 0; i < 80; i++) await sql`insert into t values (zeroblob(1048576))`.execute(database.main)
  const before = await size()
  expect(before).toBeGreaterThan(80 * 1024 * 1024)
  await reading.rollback().execute()
  // The first commit moves everything into the file, and the next one restarts the journal.
  for (let i = 0; i < 3; i++) await sql`insert into t values (x'00')`.execute(database.main)
  expect(await size()).toBe(64 * 1024 * 1024)
})

/** Counts in the file alone, without its journal. */
async function countSkills(path: string, copy: string): Promise<number> {
  // Copied by another process: closing the file in this one would drop SQLite's locks on it.
  await run('cp', [path, copy])
  const registry = await openRegistry({ path: copy, works: false, memorySkillsMax: 0 }).catch(() => undefined)
  if (!registry) return 0
  const { total } = await localApi(registry).searchSkills({})
  await registry.close()
  return total
}

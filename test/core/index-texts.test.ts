import { localApi, systemCaller, type Registry } from '@skillstead/core'
import { hasOldTexts, importVersions, partsOf, rebuildTexts } from '@skillstead/core/internal'
import { checkRegistry, repairRegistry } from '@skillstead/maintenance'
import SqliteDatabase from 'better-sqlite3'
import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { stopElapsedTime } from '../support/elapsed-time.ts'
import { describeDatabases } from '../support/harness.ts'
import { openRegistry } from '../support/open-registry.ts'
import { makePlace } from '../support/places.ts'
import { putSkillText, removeSkillText } from '../../packages/core/src/storage/text-search.ts'

const none = { name: '', owner: '', keywords: '', description: '', headings: '', summary: '', category: '', body: '' }
const skills = ['first', 'second', 'third']
/** A letter for a digit, since words with digits are split. */
const toLetter = (digit: string) => 'ghijklmnop'[Number(digit)]!

describeDatabases('search index entries of an earlier release', (_open, dialect) => {
  it('are replaced in the background, starting after the last entry that a previous process replaced', async () => {
    const open = await makeOld('1')
    const registry = await open({ works: false })
    expect((await findText(registry)).detail).toContain('A running node does so in the background.')
    await registry.close()
    const node = await open({})
    await expect.poll(() => hasOldTexts(partsOf(node).database.read)).toBe(false)
    // The test marked the first skill as replaced, so that it is the only one that still has its old entry.
    expect((await findText(node)).detail).toMatch(/^The full-text index and the row of alice\/first differ\./)
    expect((await localApi(node).searchSkills({ q: 'repair the bicycles' })).total).toBe(2)
  })

  it('are replaced by the repair of the search index', async () => {
    const open = await makeOld('0')
    const registry = await open({ works: false })
    await repairRegistry(registry, [{ name: 'text', ok: false, detail: '', repairable: true }])
    expect(await hasOldTexts(partsOf(registry).database.read)).toBe(false)
    expect(await findText(registry)).toMatchObject({ ok: true, detail: expect.stringContaining('all 3 skills') })
  })

  /** A registry whose skills have empty entries, and that continues to replace them after a row number. */
  async function makeOld(after: string) {
    const place = await makePlace(dialect)
    onTestFinished(place.remove)
    const open = async (options: { works?: boolean }) => {
      const registry = await openRegistry({ ...place.location, memorySkillsMax: 0, ...options })
      onTestFinished(() => registry.close())
      return registry
    }
    const registry = await open({ works: false })
    const { key } = await localApi(registry, systemCaller).createUser({ username: 'alice' })
    const alice = localApi(registry, await registry.authenticate(key))
    for (const name of skills) {
      await alice.publishSkill({ skillMd: skillMd(name, { description: 'Repairs a bicycle.' }) })
    }
    await partsOf(registry).database.writer.write(async (trx) => {
      for (const num of skills.keys()) {
        await putSkillText(trx, dialect === 'SQLite' ? 'sqlite' : 'postgres', num + 1, () => none, { isNew: false })
      }
      await trx.insertInto('meta').values({ key: 'texts.indexed', value: after }).execute()
    })
    await registry.close()
    return open
  }
})

describeDatabases('the words of new skills', (_open, dialect) => {
  it.skipIf(dialect !== 'PostgreSQL')(
    'are merged into the search index by nodes, but not by processes without background work (PostgreSQL)',
    async () => {
      const place = await makePlace(dialect)
      onTestFinished(place.remove)
      const idle = await openRegistry({ ...place.location, works: false })
      onTestFinished(() => idle.close())
      const { key } = await localApi(idle, systemCaller).createUser({ username: 'alice' })
      await localApi(idle, await idle.authenticate(key)).publishSkill({ skillMd: skillMd('first') })
      const { read } = partsOf(idle).database
      await sql`create extension pgstattuple`.execute(read)
      const countPages = async () => {
        const { rows } = await sql<{ pages: number }>`select pending_pages as pages
          from pgstatginindex('skill_text_vector')`.execute(read)
        return rows[0]!.pages
      }
      expect(await countPages()).toBe(1)
      const node = await openRegistry(place.location)
      onTestFinished(() => node.close())
      await localApi(node, await node.authenticate(key)).publishSkill({ skillMd: skillMd('second') })
      await expect.poll(countPages, { timeout: 20_000 }).toBe(0)
      expect(await localApi(node).searchSkills({ q: 'second' })).toMatchObject({ total: 1 })
    },
  )
})

describeDatabases('the words of versions that are imported together', (open) => {
  it('are those of the newest version of each skill', async () => {
    const { registry, api } = await open({ memorySkillsMax: 0, works: false })
    const words = ['okapi', 'quagga', 'tapir']
    const items = ['first', 'second'].flatMap((name) =>
      words.map((word) => ({
        owner: 'alice',
        name,
        skillMd: skillMd(name, { description: `About the ${word}.`, body: `# A ${word}\n` }),
      })),
    )
    stopElapsedTime()
    const outcomes = await importVersions(partsOf(registry), items, systemCaller)
    expect(outcomes.filter(({ error }) => error)).toEqual([])
    const totals = await Promise.all(words.map(async (q) => (await api().searchSkills({ q })).total))
    expect(totals).toEqual([0, 0, 2])
    expect(await findText(registry)).toMatchObject({ ok: true })
  })

  it('may be as many as a SKILL.md can have', async () => {
    const { api, makeUser } = await open({ memorySkillsMax: 0, works: false })
    const words = Array.from({ length: 40_000 }, (_, i) => `wörter${i.toString(16).replaceAll(/\d/g, toLetter)}`)
    const body = words.map((word) => `## ${word}\n\n${word}\n`).join('\n')
    await (await makeUser('alice')).api.publishSkill({ skillMd: skillMd('large', { body }) })
    expect((await api().searchSkills({ q: words[7]! })).total).toBe(1)
  })
})

async function findText(registry: Registry) {
  const findings = await checkRegistry(registry, { deep: true })
  return findings.find(({ name }) => name === 'text')!
}

it('the rebuild of a damaged SQLite text index succeeds even with a write that fails because of the damage', async () => {
  const place = await makePlace('SQLite')
  onTestFinished(place.remove)
  const registry = await openRegistry({ ...place.location, memorySkillsMax: 0, works: false })
  onTestFinished(() => registry.close())
  const { key } = await localApi(registry, systemCaller).createUser({ username: 'alice' })
  const alice = localApi(registry, await registry.authenticate(key))
  for (const name of skills) await alice.publishSkill({ skillMd: skillMd(name, { description: 'Repairs a bicycle.' }) })
  const { database } = partsOf(registry)
  const file = new SqliteDatabase(place.location.path!)
  file.unsafeMode(true)
  file.exec("update skill_text_data set block = x'ff00ff00ff' where id > 1")
  file.close()
  const remove = () => database.writer.write((trx) => removeSkillText(trx, 'sqlite', 1))
  await expect(remove()).rejects.toThrow('fts5')
  stopElapsedTime()
  await expect(Promise.all([remove(), rebuildTexts(database)])).resolves.toBeDefined()
  expect((await localApi(registry).searchSkills({ q: 'repair the bicycles' })).total).toBe(3)
})

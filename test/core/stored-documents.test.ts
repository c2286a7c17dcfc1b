import { localApi, systemCaller, type Registry } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { checkRegistry } from '@skillstead/maintenance'
import { listenNode } from '@skillstead/server'
import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { documentVersion } from '../../packages/core/src/catalogue/versions/skill-document.ts'
import { skillMd } from '../support/answers.ts'
import { describeDatabases } from '../support/harness.ts'
import { openRegistry } from '../support/open-registry.ts'
import { addUpstream, pull } from '../support/mirrored-acts.ts'
import { makePlace } from '../support/places.ts'

const names = ['first', 'second', 'third']
/** The beginning of a document in the current format. */
const form = `{"form":${documentVersion},`
/** A document in an old format that lacks a field. */
const oldDocument = sql<string>`replace(replace(document, ${form}, '{"form":0,'), '"displayName":', '"title":')`

describeDatabases('stored skill documents of an earlier release', (suite, dialect) => {
  it('do not change the responses, and are rebuilt in the background', async () => {
    const { open, answers } = await makeOld()
    const idle = await open({ works: false })
    expect(await readAnswers(idle)).toEqual(answers)
    expect(await countOld(idle)).toBe(3)
    await idle.close()
    const node = await open({})
    expect(await readAnswers(node)).toEqual(answers)
    await expect.poll(() => countOld(node)).toBe(0)
    expect(await readAnswers(node)).toEqual(answers)
    expect((await checkRegistry(node, { deep: true })).find(({ name }) => name === 'documents')).toMatchObject({
      ok: true,
    })
  })

  it('allow filters by client in the memory index at once, and in the database after they are rebuilt', async () => {
    const { open } = await makeOld()
    const [all, portable] = [names.map((name) => `alice/${name}`), ['alice/first', 'alice/third']]
    const idle = await open({ works: false })
    await partsOf(idle).search.warmed
    expect([await findBy(idle, 'goose'), await findBy(idle, 'agentskills')]).toEqual([all, portable])
    await idle.close()
    const node = await open({ memorySkillsMax: 0 })
    await expect.poll(() => findBy(node, 'goose')).toEqual(all)
    expect(await findBy(node, 'agentskills')).toEqual(portable)
  })

  it('have the same entity tags as the documents that replace them', async () => {
    const { open, etags } = await makeOld()
    const node = await open({ works: false })
    expect(await readEtags(node)).toEqual(etags)
  })

  it('are replaced at once in the response to a change of the skill', async () => {
    const { open } = await makeOld()
    const registry = await open({ works: false })
    const alice = localApi(registry, await registry.getCaller('alice'))
    const { skill } = await alice.publishSkill({ skillMd: skillMd('first'), version: '1.0.0' })
    expect(skill).toEqual(await alice.getSkill({ name: 'first' }))
    expect(skill).not.toHaveProperty('form')
  })

  it('are rebuilt, starting after the last document that a previous process rebuilt', async () => {
    const { open } = await makeOld({ version: documentVersion, after: 1 })
    const node = await open({ works: false })
    await partsOf(node).database.writer.write((trx) =>
      partsOf(node).outbox.enqueue(trx, { topic: 'skills.documents', payload: {}, uniqueKey: 'skills.documents' }),
    )
    await node.close()
    const next = await open({})
    // The test recorded the first skill as rebuilt, so it is the only one that keeps its old document.
    await expect.poll(() => countOld(next)).toBe(1)
    await expect.poll(() => readWalk(next)).toEqual({ version: documentVersion })
    expect(await countOld(next)).toBe(1)
  })

  it('are rebuilt by one of several nodes while skills change', async () => {
    const { open, answers } = await makeOld()
    const nodes = await Promise.all(dialect === 'SQLite' ? [open({})] : [open({}), open({}), open({})])
    const alice = localApi(nodes[0]!, await nodes[0]!.getCaller('alice'))
    await alice.publishSkill({ skillMd: skillMd('second', { body: 'Another day.' }), version: '2.0.0' })
    await expect.poll(() => countOld(nodes[0]!)).toBe(0)
    for (const node of nodes) {
      await partsOf(node).changes.catchUp()
      const now = await readAnswers(node)
      expect([now[0], now[2]]).toEqual([answers[0], answers[2]])
      expect(now[1]).toMatchObject({ latestVersion: '2.0.0' })
    }
  })

  it('are not rebuilt while a later release rebuilds documents in its own format', async () => {
    const walk = { version: documentVersion + 1, after: 0 }
    const { open } = await makeOld(walk)
    const node = await open({})
    await localApi(node).searchSkills({})
    expect(await readWalk(node)).toEqual(walk)
    expect(await countOld(node)).toBe(3)
  })

  it('of a mirrored skill are rebuilt, and keep the mirror’s data about the skill', async () => {
    const [origin, mirror] = [await suite({ origin: 'origin.example' }), await suite({ origin: 'mirror.example' })]
    const alice = await origin.makeUser('alice')
    await addUpstream(mirror, 'up')
    await alice.api.publishSkill({ skillMd: skillMd('tea'), version: '1.0.0' })
    await pull(mirror, 'up', origin.api())
    const shown = await mirror.api().getSkill({ name: 'alice/tea' })
    const { database, outbox } = partsOf(mirror.registry)
    await database.writer.write(async (trx) => {
      await trx.updateTable('skill_documents').set({ document: oldDocument }).execute()
      await trx.updateTable('skills').set({ origin_synced_at: 1 }).execute()
      const walk = JSON.stringify({ version: documentVersion, after: 0 })
      await trx.updateTable('meta').set({ value: walk }).where('key', '=', 'documents').execute()
    })
    expect(await mirror.api().getSkill({ name: 'alice/tea' })).toEqual(shown)
    await database.writer.write((trx) => outbox.enqueue(trx, { topic: 'skills.documents', payload: {} }))
    await expect.poll(() => countOld(mirror.registry)).toBe(0)
    expect(await mirror.api().getSkill({ name: 'alice/tea' })).toEqual(shown)
  })

  it('are not searched for in a registry that a process without background work filled, nor are old scans', async () => {
    const place = await makePlace(dialect)
    onTestFinished(place.remove)
    const idle = await openRegistry({ ...place.location, works: false })
    onTestFinished(() => idle.close())
    await localApi(idle, systemCaller).createUser({ username: 'alice' })
    await localApi(idle, await idle.getCaller('alice')).publishSkill({ skillMd: skillMd('first') })
    await idle.close()
    const node = await openRegistry(place.location)
    onTestFinished(() => node.close())
    const { read } = partsOf(node).database
    const topics = await read.selectFrom('outbox').select('topic').execute()
    expect(topics.map(({ topic }) => topic)).toEqual(['housekeeping'])
    expect(await readWalk(node)).toEqual({ version: documentVersion })
  })

  /** A registry whose documents have an old format without one field, and the responses from before. */
  async function makeOld(walk: object = { version: 0 }) {
    const place = await makePlace(dialect)
    onTestFinished(place.remove)
    const open = async (options: { works?: boolean; memorySkillsMax?: number }) => {
      const registry = await openRegistry({ ...place.location, ...options })
      onTestFinished(() => registry.close())
      return registry
    }
    const registry = await open({ works: false })
    await localApi(registry, systemCaller).createUser({ username: 'alice' })
    const alice = localApi(registry, await registry.getCaller('alice'))
    for (const name of names) {
      const text = skillMd(name).replace('---\n', name === 'second' ? '---\nmodel: large\n' : '---\n')
      await alice.publishSkill({ skillMd: text, version: '1.0.0' })
    }
    const [answers, etags] = [await readAnswers(registry), await readEtags(registry)]
    await partsOf(registry).database.writer.write(async (trx) => {
      await trx.updateTable('skill_documents').set({ document: oldDocument }).execute()
      await trx.updateTable('skills').set({ loaded_by: null }).execute()
      await trx.deleteFrom('meta').where('key', '=', 'documents').execute()
      await trx
        .insertInto('meta')
        .values({ key: 'documents', value: JSON.stringify(walk) })
        .execute()
    })
    await registry.close()
    return { open, answers, etags }
  }
})

it('stored skill documents without a format number are returned unchanged, and get the number', async () => {
  const place = await makePlace('SQLite')
  onTestFinished(place.remove)
  const registry = await openRegistry(place.location)
  onTestFinished(() => registry.close())
  await localApi(registry, systemCaller).createUser({ username: 'alice' })
  await localApi(registry, await registry.getCaller('alice')).publishSkill({ skillMd: skillMd('first') })
  const { read, writer } = partsOf(registry).database
  const stored = () => read.selectFrom('skill_documents').select('document').executeTakeFirstOrThrow()
  const { document } = await stored()
  const answer = await localApi(registry).getSkill({ name: 'alice/first' })
  await writer.write(async (trx) => {
    const unnumbered = document.replace(form, '{')
    await trx.updateTable('skill_documents').set({ document: unnumbered }).execute()
    await trx.deleteFrom('meta').where('key', '=', 'documents').execute()
  })
  await registry.close()
  const next = await openRegistry(place.location)
  onTestFinished(() => next.close())
  expect(await localApi(next).getSkill({ name: 'alice/first' })).toEqual(answer)
  await expect.poll(() => countOld(next)).toBe(0)
  expect(await partsOf(next).database.read.selectFrom('skill_documents').select('document').execute()).toEqual([
    { document },
  ])
})

const findBy = async (registry: Registry, client: string) =>
  (await localApi(registry).searchSkills({ client })).skills.map(({ fullName }) => fullName).toSorted()

const readAnswers = (registry: Registry) =>
  Promise.all(names.map((name) => localApi(registry).getSkill({ name: `alice/${name}` })))

async function readEtags(registry: Registry): Promise<(string | null)[]> {
  const node = await listenNode(registry, { port: 0, rates: 'off' })
  const answers = await Promise.all(names.map((name) => fetch(`${node.url}/api/v1/skills/alice%2F${name}`)))
  await node.close()
  return answers.map(({ headers }) => headers.get('etag'))
}

async function countOld(registry: Registry): Promise<number> {
  const { read } = partsOf(registry).database
  const rows = await read.selectFrom('skill_documents').select('document').execute()
  return rows.filter(({ document }) => !document.startsWith(form)).length
}

async function readWalk(registry: Registry): Promise<unknown> {
  const { read } = partsOf(registry).database
  const row = await read.selectFrom('meta').select('value').where('key', '=', 'documents').executeTakeFirstOrThrow()
  return JSON.parse(row.value)
}

import { partsOf } from '@skillstead/core/internal'
import { afterEach, expect, it } from 'vitest'
import { describeInTurn } from '../support/harness.ts'
import { listenNode } from '@skillstead/server'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { withUpstreams } from '../../packages/mirror/src/tables/mirror-tables.ts'

afterEach(endMirrors)

const secretKey = new Uint8Array(32)
const notFound = { code: 'not_found' }

function toSkillMd(name: string, body = 'Does it.'): string {
  return `---\nname: ${name}\ndescription: Does ${name}\n---\n# ${name}\n\n${body}\n`
}

describeInTurn('private skills of an upstream node', (open) => {
  it("are imported with their owner's key, with all versions, and stay private", async () => {
    const upstream = await openUpstream(open)
    const bob = await upstream.test.makeUser('bob')
    const files = [{ path: 'notes.txt', content: 'Dear diary.' }]
    await upstream.alice.api.publishSkill({ skillMd: toSkillMd('diary'), version: '1.0.0', visibility: 'private' })
    await upstream.alice.api.publishSkill({ skillMd: toSkillMd('diary', 'More.'), version: '1.1.0', files })
    await upstream.alice.api.publishSkill({ skillMd: toSkillMd('staff'), version: '1.0.0', visibility: 'internal' })
    await bob.api.publishSkill({ skillMd: toSkillMd('ledger'), version: '1.0.0', visibility: 'private' })
    await upstream.publish('pdf')
    const { mirror, test } = await openMirror(open, {}, { secretKey })
    const alice = await test.makeUser('alice')
    const other = await test.makeUser('other')
    await mirror.add('main', upstream.url, { apiKey: bob.key, filters: { owners: ['alice'] } })
    await mirror.accounts.link('alice', 'main', upstream.alice.key)
    await mirror.sync('main')
    const [there, here] = [
      await upstream.alice.api.getSkill({ name: 'alice/diary' }),
      await alice.api.getSkill({ name: 'alice/diary' }),
    ]
    expect(here).toMatchObject({ visibility: 'private', origin: { kind: 'mirror', upstream: 'main' } })
    expect(here.versions).toEqual(there.versions)
    expect(here.files).toEqual(there.files)
    await expect(test.api().getSkill({ name: 'alice/diary' })).rejects.toMatchObject(notFound)
    await expect(other.api.getSkill({ name: 'alice/diary' })).rejects.toMatchObject(notFound)
    await expect(alice.api.getSkill({ name: 'alice/staff' })).rejects.toMatchObject(notFound)
    await expect(test.admin.api.getSkill({ name: 'bob/ledger' })).rejects.toMatchObject(notFound)
    expect(JSON.stringify((await test.api().getFeed({})).entries)).not.toMatch(/diary|ledger|staff/)
    expect((await test.api().searchSkills({})).skills.map(({ name }) => name)).not.toContain('diary')
  })

  it('are read again only after changes, and are never deleted', async () => {
    const upstream = await openUpstream(open)
    const { api } = upstream.alice
    await api.publishSkill({ skillMd: toSkillMd('diary'), version: '1.0.0', visibility: 'private' })
    const { mirror, test } = await openMirror(open, {}, { secretKey })
    const alice = await test.makeUser('alice')
    await mirror.add('main', upstream.url)
    await mirror.accounts.link('alice', 'main', upstream.alice.key)
    expect(await mirror.sync('main')).toMatchObject({ applied: 1 })
    expect(await mirror.sync('main')).toMatchObject({ applied: 0, unchanged: 1 })
    await api.publishSkill({ skillMd: toSkillMd('diary', 'More.'), version: '1.1.0' })
    await api.yankVersion({ name: 'alice/diary', version: '1.0.0' })
    expect(await mirror.sync('main')).toMatchObject({ applied: 2 })
    const { versions } = await alice.api.getSkill({ name: 'alice/diary' })
    expect(versions.map(({ version, yanked }) => [version, yanked])).toEqual([
      ['1.1.0', false],
      ['1.0.0', true],
    ])
    await api.deleteSkill({ name: 'alice/diary' })
    expect(await mirror.sync('main')).toMatchObject({ applied: 0, removed: 0 })
    expect(await alice.api.getSkill({ name: 'alice/diary' })).toMatchObject({ latestVersion: '1.1.0' })
  })

  it('become public on the mirror when the upstream publishes them in its log', async () => {
    const upstream = await openUpstream(open)
    const { api } = upstream.alice
    await api.publishSkill({ skillMd: toSkillMd('diary'), version: '1.0.0', visibility: 'private' })
    const { mirror, test } = await openMirror(open, {}, { secretKey })
    await mirror.add('main', upstream.url, { apiKey: upstream.alice.key })
    await mirror.sync('main')
    await expect(test.api().getSkill({ name: 'alice/diary' })).rejects.toMatchObject(notFound)
    await api.publishSkill({ name: 'diary', visibility: 'public' })
    expect(await mirror.sync('main')).toMatchObject({ refusedTotal: 0 })
    expect(await test.api().getSkill({ name: 'alice/diary' })).toMatchObject({ visibility: 'public' })
  })

  it("become private for the key's owner when the upstream makes them private, and public again", async () => {
    const upstream = await openUpstream(open)
    const { api } = upstream.alice
    for (const version of ['1.0.0', '1.1.0']) await upstream.publish('diary', version)
    await upstream.publish('gone')
    const { mirror, test } = await openMirror(open, {}, { secretKey })
    const follower = await openMirror(open)
    const node = await listenNode(test.registry, { port: 0, rates: 'off' })
    const alice = await test.makeUser('alice')
    await mirror.add('main', upstream.url)
    await mirror.accounts.link('alice', 'main', upstream.alice.key)
    await mirror.sync('main')
    await follower.mirror.add('main', node.url)
    await api.publishSkill({ name: 'diary', visibility: 'private' })
    await api.deleteSkill({ name: 'alice/gone' })
    expect(await mirror.sync('main')).toMatchObject({ removed: 2, refusedTotal: 0 })
    const [there, here] = [
      await api.getSkill({ name: 'alice/diary' }),
      await alice.api.getSkill({ name: 'alice/diary' }),
    ]
    expect(here).toMatchObject({ visibility: 'private', versions: there.versions })
    await expect(test.api().getSkill({ name: 'alice/diary' })).rejects.toMatchObject(notFound)
    await expect(alice.api.getSkill({ name: 'alice/gone' })).rejects.toMatchObject(notFound)
    expect((await alice.api.searchSkills({ q: 'diary' })).total).toBe(1)
    await api.publishSkill({ skillMd: toSkillMd('diary', 'Secret.'), version: '1.2.0' })
    expect(await mirror.sync('main')).toMatchObject({ applied: 1 })
    expect(await mirror.sync('main')).toMatchObject({ applied: 0 })
    expect(await alice.api.getSkill({ name: 'alice/diary' })).toMatchObject({ latestVersion: '1.2.0' })
    expect(JSON.stringify((await test.api().getFeed({})).entries)).not.toContain('1.2.0')
    await follower.mirror.sync('main')
    await expect(follower.test.api().getSkill({ name: 'alice/diary' })).rejects.toMatchObject(notFound)
    await api.publishSkill({ name: 'diary', visibility: 'public' })
    await mirror.sync('main')
    await follower.mirror.sync('main')
    for (const one of [test, follower.test]) {
      expect(await one.api().getSkill({ name: 'alice/diary' })).toMatchObject({
        latestVersion: '1.2.0',
        visibility: 'public',
      })
    }
    await follower.mirror.close()
    await node.close()
  })

  it('are imported with a key that was linked while the upstream was unreachable', async () => {
    const upstream = await openUpstream(open)
    const { mirror, test } = await openMirror(open, {}, { secretKey })
    await upstream.alice.api.publishSkill({ skillMd: toSkillMd('diary'), version: '1.0.0', visibility: 'private' })
    const alice = await test.makeUser('alice')
    await mirror.add('main', upstream.url)
    await mirror.accounts.link('alice', 'main', upstream.alice.key)
    await partsOf(test.registry).database.writer.write((trx) =>
      withUpstreams(trx).updateTable('upstream_links').set({ username: '' }).execute(),
    )
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refusedTotal: 0 })
    expect(await alice.api.getSkill({ name: 'alice/diary' })).toMatchObject({ visibility: 'private' })
  })

  it('do not block skills of other users if a linked key can no longer be decrypted', async () => {
    const upstream = await openUpstream(open)
    const bob = await upstream.test.makeUser('bob')
    await bob.api.publishSkill({ skillMd: toSkillMd('ledger'), version: '1.0.0', visibility: 'private' })
    const { mirror, test } = await openMirror(open, {}, { secretKey })
    await test.makeUser('alice')
    await test.makeUser('bob')
    await mirror.add('main', upstream.url)
    await mirror.accounts.link('alice', 'main', upstream.alice.key)
    await mirror.accounts.link('bob', 'main', bob.key)
    await partsOf(test.registry).database.writer.write((trx) =>
      withUpstreams(trx)
        .updateTable('upstream_links')
        .set({ credential: Buffer.from('lost') })
        .where('username', '=', 'alice')
        .execute(),
    )
    expect(await mirror.sync('main')).toMatchObject({
      applied: 1,
      refused: [{ subject: 'alice', reason: 'missing', detail: expect.stringContaining('another secret key') }],
    })
  })

  it('are not imported if the API key is invalid, and the sync reports the invalid key', async () => {
    const upstream = await openUpstream(open)
    await upstream.publish('pdf')
    const { mirror } = await openMirror(open, {}, { secretKey })
    await mirror.add('main', upstream.url, { apiKey: 'ssk_wrong' })
    await expect(mirror.sync('main')).rejects.toMatchObject({ code: 'unauthorized' })
  })
})

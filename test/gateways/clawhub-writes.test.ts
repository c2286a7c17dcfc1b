import { describe, expect, it } from 'vitest'
import { asClawhubUser, readZipFiles } from '../support/clawhub-acts.ts'
import { createClock } from '../support/harness.ts'
import { sampleOf } from '../support/security-samples.ts'
import { skillMd, startNode } from '../support/server-harness.ts'

const tea = '---\nname: tea\ndescription: Sorts tea leaves\n---\n# Tea\n'

describe('a ClawHub client with a key', () => {
  it('reads its user, stars skills and reports skills', async () => {
    const fixture = await startNode()
    const { node } = fixture
    const alice = asClawhubUser(fixture, fixture.key)
    const bob = asClawhubUser(fixture, await fixture.createUser('bob'))
    expect(await bob.read('/whoami')).toMatchObject({ user: { handle: 'bob', role: 'user' } })
    expect((await asClawhubUser(fixture).ask('/whoami')).status).toBe(401)
    const star = (method: string) => bob.read('/stars/pdf?ownerHandle=alice', { method })
    expect(await star('POST')).toEqual({ ok: true, starred: true, alreadyStarred: false })
    expect(await star('POST')).toEqual({ ok: true, starred: true, alreadyStarred: true })
    expect(await star('DELETE')).toEqual({ ok: true, unstarred: true, alreadyUnstarred: false })
    const reason = `It is a copy. ${'x'.repeat(200)}`
    const reported = await (await bob.post('/skills/pdf/report', { reason })).json()
    expect(reported).toMatchObject({ ok: true, reported: true })
    expect((await bob.ask('/skills/-/reports')).status).toBe(403)
    const { items } = await alice.read('/skills/-/reports?status=open&limit=25')
    expect(items).toMatchObject([{ slug: 'alice/pdf', reporter: { handle: 'bob' }, status: 'open' }])
    expect(items[0]!.reason).toContain(reason)
    const triage = `/skills/-/reports/${items[0]!.reportId}/triage`
    expect((await alice.post(triage, { status: 'confirmed', note: 'No.' })).status).toBe(400)
    expect(await (await alice.post(triage, { status: 'dismissed', note: 'No.' })).json()).toMatchObject({ ok: true })
    expect((await alice.read('/skills/-/reports')).items).toEqual([])
    const telemetry = await fetch(`${node.url}/clawhub/api/cli/telemetry/install`, { method: 'POST', body: '{}' })
    expect(await telemetry.json()).toEqual({ ok: true })
  })

  it('publishes the files that it uploaded', async () => {
    const fixture = await startNode()
    const bob = asClawhubUser(fixture, await fixture.createUser('bob'))
    const files = { 'SKILL.md': tea, 'data/leaf.bin': new Uint8Array([0, 255, 254]), 'empty.txt': '' }
    const more = { ownerHandle: 'bob', changelog: 'First', topics: ['leaves'], categories: ['food'] }
    const response = await bob.publish('tea', files, more)
    expect(await response.json()).toMatchObject({ ok: true, slug: 'tea', version: '1.0.0', status: 'published' })
    const skill = await fixture.api.getSkill({ name: 'bob/tea' })
    expect(skill).toMatchObject({ displayName: 'A Skill', keywords: ['leaves'], category: 'food' })
    expect(skill.files.map(({ path }) => path)).toEqual(['SKILL.md', 'data/leaf.bin', 'empty.txt'])
    const zip = await (await bob.ask('/download?slug=tea')).arrayBuffer()
    expect((await readZipFiles(new Uint8Array(zip)))['data/leaf.bin']).toEqual(Buffer.from([0, 255, 254]))
    expect((await bob.publish('tea', { 'SKILL.md': `${tea}More.\n` })).status).toBe(409)
  })

  it('gets the status pending for a dangerous version, which an administrator must release', async () => {
    const fixture = await startNode({}, undefined, { scanPolicy: { dangerous: 'quarantine' } })
    const bob = asClawhubUser(fixture, await fixture.createUser('bob'))
    const response = await bob.publish('shell', { 'SKILL.md': sampleOf('dangerous', 'shell') })
    expect(await response.json()).toMatchObject({ ok: true, publicationStatus: 'pending' })
    expect((await bob.ask('/skills/shell')).status).toBe(404)
    expect(await bob.read('/resolve?slug=shell&hash=00')).toEqual({ match: null, latestVersion: null })
  })

  it('cannot publish missing files, unsupported options or skills of other owners', async () => {
    const fixture = await startNode()
    const bob = asClawhubUser(fixture, await fixture.createUser('bob'))
    const refusals: [Promise<Response>, number, string][] = [
      [bob.publish('tea', { 'README.md': tea }), 422, 'The folder has no SKILL.md.'],
      [bob.publish('tea', { 'SKILL.md': new Uint8Array([0xff]) }), 422, 'SKILL.md must be UTF-8 text.'],
      [bob.publish('tea', { 'SKILL.md': tea, '../up': 'x' }), 422, '../up'],
      [bob.publish('tea', { 'SKILL.md': tea }, { tags: ['beta'] }), 400, 'no tags but latest'],
      [bob.publish('tea', { 'SKILL.md': tea }, { forkOf: { slug: 'pdf' } }), 400, 'skillstead fork'],
      [bob.publish('tea', { 'SKILL.md': tea }, { files: {} }), 400, 'files must be the list'],
      [bob.publish('tea', { 'SKILL.md': tea }, { version: 7 }), 400, 'version must be a text.'],
      [bob.publish('pdf', { 'SKILL.md': skillMd }, { ownerHandle: 'alice' }), 403, 'You may not publish alice/pdf'],
      [bob.post('/skills', { slug: 'tea', files: [{ path: 'SKILL.md', storageId: 'x' }] }), 404, 'no such upload'],
      [bob.ask('/skills', { method: 'POST', body: '[' }), 400, 'The body is not JSON.'],
      [asClawhubUser(fixture).post('/skills'), 401, 'Sign in first'],
    ]
    for (const [asked, status, text] of refusals) {
      const response = await asked
      expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(text)])
    }
  })

  it('uploads only the announced file, and only as the user who announced it', async () => {
    const fixture = await startNode()
    const [bob, eve] = [await fixture.createUser('bob'), await fixture.createUser('eve')]
    const announced = await asClawhubUser(fixture, bob).announce(Buffer.from('tea'))
    const { uploadUrl } = (await announced.json()) as { uploadUrl: string }
    const upload = async (key: string, body: string) =>
      (await fetch(uploadUrl, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body })).status
    expect(await upload(bob, 'pea')).toBe(400)
    expect(await upload(bob, 'teas')).toBe(413)
    expect(await upload(eve, 'tea')).toBe(404)
    expect(await upload(bob, 'tea')).toBe(200)
    expect((await asClawhubUser(fixture, bob).announce(Buffer.from(''), { size: 10 * 1024 ** 2 + 1 })).status).toBe(413)
    expect((await asClawhubUser(fixture, bob).announce(Buffer.from(''), { size: -1 })).status).toBe(400)
  })

  it('publishes while many other users announce files that they never upload', async () => {
    const fixture = await startNode()
    // A share of each user, also for nodes that would count announced bytes.
    const size = 8 * 1024 ** 2
    for (const name of ['eve', 'mia', 'tom', 'zoe']) {
      const user = asClawhubUser(fixture, await fixture.createUser(name))
      const announced = Array.from({ length: 10 }, () => user.announce(new Uint8Array(), { size, sha256: 'x' }))
      for (const { status } of await Promise.all(announced)) expect(status).toBe(200)
    }
    const bob = asClawhubUser(fixture, await fixture.createUser('bob'))
    for (let i = 0; i < 10; i++) await bob.announce(new Uint8Array(), { size, sha256: 'x' })
    expect((await bob.publish('tea', { 'SKILL.md': tea })).status).toBe(200)
  })

  it('cannot upload more than the limit of its user until it publishes uploaded files', async () => {
    const fixture = await startNode({}, undefined, { clock: createClock() })
    const bob = await fixture.createUser('bob')
    const user = asClawhubUser(fixture, bob)
    const headers = { authorization: `Bearer ${bob}` }
    const uploads: { storageId: string }[] = []
    const send = async (body: Uint8Array<ArrayBuffer>) => {
      const { uploadUrl } = (await (await user.announce(body)).json()) as { uploadUrl: string }
      const response = await fetch(uploadUrl, { method: 'POST', headers, body })
      if (response.ok) uploads.push((await response.json()) as { storageId: string })
      return response
    }
    for (const mebibytes of [8, 7, 10, 7]) await send(new Uint8Array(mebibytes * 1024 ** 2))
    expect(uploads).toHaveLength(4)
    const refused = await send(new Uint8Array(1))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '600'])
    const publish = (many: number) => {
      const files = uploads.slice(0, many).map(({ storageId }, i) => ({ path: `${i}.bin`, storageId }))
      return user.post('/skills', { slug: 'tea', version: '1.0.0', files })
    }
    const tooLarge = await publish(4)
    expect([tooLarge.status, await tooLarge.text()]).toEqual([
      413,
      expect.stringContaining('The files have 33554432 bytes'),
    ])
    expect((await publish(2)).status, 'without a SKILL.md').toBe(422)
    expect((await send(new Uint8Array(1))).status).toBe(200)
  })

  it('is refused with a forged upload ticket', async () => {
    const fixture = await startNode()
    const { userId } = await fixture.registry.getCaller('alice')
    const tickets = ['x', '', '5', 'null', '{}', '[]', `["${userId}","3","x",9e15]`, `["${userId}",1e9,"x",9e15]`]
    for (const text of tickets) {
      const ticket = Buffer.from(text).toString('base64url') || 'x'
      const response = await asClawhubUser(fixture, fixture.key).ask(`/uploads/${ticket}`, {
        method: 'POST',
        body: 'tea',
      })
      expect([text, response.status]).toEqual([text, 404])
    }
  })

  it('loses its unused uploads after 10 minutes', async () => {
    const clock = createClock()
    const fixture = await startNode({}, undefined, { clock })
    const announced = await asClawhubUser(fixture, fixture.key).announce(Buffer.from('tea'))
    const { uploadUrl } = (await announced.json()) as { uploadUrl: string }
    clock.advance(10 * 60_000)
    const headers = { authorization: `Bearer ${fixture.key}` }
    expect((await fetch(uploadUrl, { method: 'POST', headers, body: 'tea' })).status).toBe(404)
  })

  it('deletes and restores one version or all versions, by yanking', async () => {
    const fixture = await startNode()
    await fixture.api.publishSkill({ skillMd: `${skillMd}More.\n`, version: '1.1.0' })
    const { ask, post, read } = asClawhubUser(fixture, fixture.key)
    const latest = async () => (await read('/skills/pdf')).latestVersion?.version
    const bob = asClawhubUser(fixture, await fixture.createUser('bob'))
    expect((await bob.ask('/skills/pdf', { method: 'DELETE' })).status).toBe(403)
    expect((await bob.post('/skills/pdf/undelete')).status).toBe(403)
    expect((await asClawhubUser(fixture).ask('/skills/pdf', { method: 'DELETE' })).status).toBe(401)

    expect(await (await ask('/skills/pdf/versions/1.1.0', { method: 'DELETE' })).json()).toEqual({ ok: true })
    expect(await latest()).toBe('1.0.0')
    expect((await read('/skills/pdf/versions')).items).toMatchObject([{ version: '1.0.0' }])
    expect((await post('/skills/pdf/versions/1.1.0/restore')).status).toBe(200)
    expect(await latest()).toBe('1.1.0')
    const body = JSON.stringify({ ownerHandle: 'alice', reason: 'Old' })
    expect(await read('/skills/pdf', { method: 'DELETE', body })).toEqual({ ok: true })
    expect(await latest()).toBeUndefined()
    expect((await read('/search?q=pdf')).results).toEqual([])
    const install = await ask('/skills/pdf/install')
    expect([install.status, await install.json()]).toMatchObject([410, { ok: false, status: 410 }])
    expect(await (await post('/skills/pdf/undelete')).json()).toEqual({ ok: true })
    expect(await latest()).toBe('1.1.0')
    expect((await ask('/skills/pdf/versions/9.9.9', { method: 'DELETE' })).status).toBe(404)
  })

  it('offers, accepts, rejects and cancels transfers', async () => {
    const fixture = await startNode()
    const alice = asClawhubUser(fixture, fixture.key)
    const bob = asClawhubUser(fixture, await fixture.createUser('bob'))
    const offer = () => alice.post('/skills/pdf/transfer', { toUserHandle: '@bob' })
    expect(await (await offer()).json()).toMatchObject({ ok: true, toUserHandle: 'bob', skillSlug: 'pdf' })
    expect((await bob.read('/transfers/incoming')).transfers).toMatchObject([
      { skill: { slug: 'pdf' }, fromUser: { handle: 'alice' }, toUser: { handle: 'bob' } },
    ])
    expect((await bob.read('/transfers/outgoing')).transfers).toEqual([])
    expect((await alice.read('/transfers/outgoing')).transfers).toHaveLength(1)
    expect((await bob.post('/skills/pdf/transfer/reject')).status).toBe(200)
    expect((await bob.post('/skills/pdf/transfer/accept')).status).toBe(404)
    await offer()
    expect((await alice.post('/skills/pdf/transfer/cancel')).status).toBe(200)
    await offer()
    expect((await bob.post('/skills/pdf/transfer/accept')).status).toBe(200)
    expect((await fixture.api.getSkill({ name: 'alice/pdf' })).fullName).toBe('bob/pdf')
  })
})

import { randomBytes } from 'node:crypto'
import { partsOf } from '@skillstead/core/internal'
import { createMirror } from '@skillstead/mirror'
import { afterEach, expect, it } from 'vitest'
import { codeOf, refusalOf } from '../support/answers.ts'
import { beginWrite, findNext } from '../../packages/mirror/src/writing/rows.ts'
import { describeDatabases, startMs, createClock } from '../support/harness.ts'
import { endMirrors, openMirror } from '../support/mirror-harness.ts'
import { openPair, toSkillMd, type WritingPair } from '../support/mirror-writes-acts.ts'
import { withUpstreams } from '../../packages/mirror/src/tables/mirror-tables.ts'

const opened: WritingPair[] = []
afterEach(async () => {
  await endMirrors()
  for (const pair of opened.splice(0)) await pair.close()
})

describeDatabases('linked accounts at upstreams', (open) => {
  const openOne = async (options?: Parameters<typeof openPair>[1]) => {
    const pair = await openPair(open, options)
    opened.push(pair)
    return pair
  }

  it('are stored encrypted, and listed without their keys', async () => {
    const { mirrored, upstream, ann } = await openOne()
    const { registry } = mirrored.test
    expect(await mirrored.mirror.accounts.list()).toEqual([
      { user: ann.username, upstream: 'main', username: 'alice', createdAt: startMs },
    ])
    const rows = await withUpstreams(partsOf(registry).database.read).selectFrom('upstream_links').selectAll().execute()
    expect(Buffer.from(rows[0]!.credential).toString('latin1')).not.toContain(upstream.alice.key)
    expect(JSON.stringify(rows)).not.toContain(upstream.alice.key)
    expect(partsOf(registry).secrets.open(rows[0]!.credential)).toBe(upstream.alice.key)
    const other = await openMirror(open, {}, { secretKey: randomBytes(32) })
    expect(() => partsOf(other.test.registry).secrets.open(rows[0]!.credential)).toThrow(
      'encrypted with another secret key',
    )
    const altered = Buffer.from(rows[0]!.credential)
    altered[altered.length - 1]! ^= 1
    expect(() => partsOf(registry).secrets.open(altered)).toThrow('encrypted with another secret key')
    await expect(open({ secretKey: randomBytes(16) })).rejects.toThrow('A secret key must have 32 bytes')
  })

  it('are rejected without a secret key, with an invalid API key, and for upstream kinds without accounts', async () => {
    const { mirrored, ann } = await openOne()
    const { accounts } = mirrored.mirror
    expect(await codeOf(accounts.link(ann.username, 'main', 'ssk_wrong'))).toBe('invalid_request')
    expect(await codeOf(accounts.link('unknown-user', 'main', 'ssk_wrong'))).toBe('not_found')
    expect(await codeOf(accounts.link(ann.username, 'other', 'ssk_wrong'))).toBe('not_found')
    await mirrored.mirror.add('folder', '/nowhere', { kind: 'folder' })
    expect(await codeOf(accounts.link(ann.username, 'folder', 'ssk_wrong'))).toBe('invalid_request')
    expect(await codeOf(accounts.unlink(mirrored.test.admin.username, 'main'))).toBe('not_found')
    const bare = await openMirror(open)
    await bare.mirror.add('main', 'http://127.0.0.1:9')
    const user = await bare.test.makeUser()
    const refusal = await refusalOf(bare.mirror.accounts.link(user.username, 'main', 'ssk_any'))
    expect(refusal).toMatchObject({ code: 'conflict', message: expect.stringContaining('SKILLSTEAD_SECRET_KEY') })
    expect(await codeOf(bare.mirror.add('keyed', 'http://127.0.0.1:9', { apiKey: 'ssk_any' }))).toBe('conflict')
  })

  it('are rejected if a header cannot contain the API key, and the error does not quote the key', async () => {
    const { mirrored, ann } = await openOne()
    const key = 'ssk_first\nssk_second'
    for (const refused of [
      () => mirrored.mirror.accounts.link(ann.username, 'main', key),
      () => mirrored.mirror.add('keyed', 'http://127.0.0.1:9', { apiKey: key }),
    ]) {
      const { code, message } = await refusalOf(refused())
      expect(code).toBe('invalid_request')
      expect(message).not.toContain('ssk_')
    }
  })

  it('can be linked while the upstream is unreachable, and get their username later', async () => {
    const pair = await openOne({ link: false })
    const { mirrored, upstream, ann } = pair
    pair.unplug()
    const linked = await mirrored.mirror.accounts.link(ann.username, 'main', upstream.alice.key)
    expect(linked).toMatchObject({ username: null })
    await pair.write('tea')
    expect((await mirrored.mirror.outbox.list())[0]).toMatchObject({
      subject: 'ann/tea',
      user: 'ann',
      version: '1.0.0',
    })
    pair.plugIn()
    expect(await pair.deliver()).toMatchObject({ delivered: 1 })
    expect(await mirrored.mirror.accounts.list()).toMatchObject([{ username: 'alice' }])
    expect(await upstream.test.api().getSkill({ name: 'alice/tea' })).toMatchObject({ latestVersion: '1.0.0' })
  })
})

describeDatabases('a mirror with an API key of its own', (open) => {
  it('sends writes of users who have no account at the upstream', async () => {
    const pair = await openPair(open, { link: false })
    opened.push(pair)
    const { upstream, mirrored, network, ann } = pair
    const { key } = await upstream.test.makeUser('the-mirror')
    await mirrored.mirror.add('keyed', network.url, { apiKey: key })
    const { database } = partsOf(mirrored.test.registry)
    await database.writer.write((trx) => trx.updateTable('skills').set({ origin_upstream: 'keyed' }).execute())
    const bob = await mirrored.test.makeUser('bob')
    await ann.api.starSkill({ name: 'alice/pdf' })
    await bob.api.starSkill({ name: 'alice/pdf' })
    await ann.api.unstarSkill({ name: 'alice/pdf' })
    await ann.api.createReview({ name: 'alice/pdf', rating: 5, title: 'Good', body: 'It reads.' })
    const agentKey = 'claude:one'
    await mirrored.test.api().createAgentReview({ name: 'alice/pdf', agentKey, rating: 3.5, content: 'Read one.' })
    await ann.api.publishSkill({ skillMd: toSkillMd('tea', 'Not linked.') })
    network.fault = ({ method }) => (method === 'GET' ? undefined : { cut: 0 })
    await pair.deliver()
    network.fault = undefined
    expect(await pair.deliver()).toEqual({ delivered: 5, waiting: 0, inConflict: 0 })
    const there = upstream.test.api()
    // One star for all of them, and bob still gives his.
    expect(await there.getSkill({ name: 'alice/pdf' })).toMatchObject({ stars: 1 })
    expect((await there.listReviews({ name: 'alice/pdf' })).reviews).toMatchObject([
      { reviewer: { username: 'the-mirror' } },
    ])
    expect((await there.listAgentReviews({ name: 'alice/pdf' })).reviews).toMatchObject([{ agentKey, rating: 3.5 }])
    await bob.api.unstarSkill({ name: 'alice/pdf' })
    await pair.deliver()
    expect(await there.getSkill({ name: 'alice/pdf' })).toMatchObject({ stars: 0 })
    expect((await there.searchSkills({})).skills.map(({ fullName }) => fullName)).toEqual(['alice/pdf'])
  })

  it('sends each install only once, even if a response was lost', async () => {
    const pair = await openPair(open, { link: false })
    opened.push(pair)
    const { upstream, mirrored, network } = pair
    const { key } = await upstream.test.makeUser('the-mirror')
    const { registry } = mirrored.test
    const credential = partsOf(registry).secrets.seal(key)
    await partsOf(registry).database.writer.write((trx) =>
      withUpstreams(trx).updateTable('upstreams').set({ credential }).execute(),
    )
    for (let i = 0; i < 5; i += 1) await mirrored.test.api().track({ skillName: 'alice/pdf' })
    expect(await pair.waiting()).toEqual(['track alice/pdf: pending'])
    network.fault = ({ path, count }) => (path.endsWith('/track') && count % 2 === 0 ? { cut: 0 } : undefined)
    await expect.poll(async () => (await pair.deliver()).waiting).toBe(0)
    await expect.poll(async () => (await upstream.test.api().getSkill({ name: 'alice/pdf' })).downloads).toBe(5)
  })
})

describeDatabases('an attempt to send a write', (open) => {
  it('includes installs that were added to the write after it was selected', async () => {
    const pair = await openPair(open, { link: false })
    opened.push(pair)
    const { test } = pair.mirrored
    const { read, writer } = partsOf(test.registry).database
    for (let i = 0; i < 2; i += 1) await test.api().track({ skillName: 'alice/pdf' })
    await expect.poll(async () => (await findNext(read, 'main', 'alice/pdf'))?.payload).toMatchObject({ count: 2 })
    const found = await findNext(read, 'main', 'alice/pdf')
    await test.api().track({ skillName: 'alice/pdf' })
    await expect.poll(async () => (await findNext(read, 'main', 'alice/pdf'))?.payload).toMatchObject({ count: 3 })
    expect(await writer.write((trx) => beginWrite(trx, found!))).toMatchObject({ attempts: 1, payload: { count: 3 } })
  })
})

/** From now on the upstream performs each request, but its responses never arrive. */
function holdAnswers(network: WritingPair['network']) {
  const { promise: never, resolve } = Promise.withResolvers<undefined>()
  const answers = { isHeld: false, end: () => resolve(undefined) }
  network.fault = ({ method }) => {
    if (method !== 'PUT') return undefined
    answers.isHeld = true
    return never
  }
  return answers
}

describeDatabases('a mirror that is killed or closed while it sends a write', (open) => {
  it('leaves the write to another process, which completes the write exactly once', async () => {
    const pair = await openPair(open, { works: true })
    opened.push(pair)
    const { upstream, network, mirrored } = pair
    const answers = holdAnswers(network)
    await pair.write('tea')
    await expect.poll(() => answers.isHeld).toBe(true)
    network.fault = undefined
    const clock = createClock(startMs + 180_000)
    const at = mirrored.test.location
    // Started without its secret key at first: that loses nothing.
    const bare = createMirror((await open({ at, clock: createClock(), works: false })).registry)
    expect(await bare.outbox.deliver()).toEqual({ delivered: 0, waiting: 1, inConflict: 0 })
    await bare.close()
    const { registry } = await open({ at, clock, secretKey: pair.secretKey })
    const next = createMirror(registry)
    await expect.poll(async () => (await next.outbox.list({ states: ['delivered'] })).length).toBe(1)
    expect(await next.outbox.list()).toEqual([])
    const { entries } = await upstream.test.api().getFeed({})
    expect(entries.map(({ subject }) => subject)).toEqual(['alice/pdf@1.0.0', 'alice/tea@1.0.0'])
    await next.close()
    answers.end()
  })

  it('releases its writes for other processes when the mirror is closed', async () => {
    const pair = await openPair(open, { works: true })
    opened.push(pair)
    const { upstream, network, mirrored } = pair
    const answers = holdAnswers(network)
    await pair.write('tea')
    await pair.write('tea', '1.1.0')
    await expect.poll(() => answers.isHeld).toBe(true)
    network.fault = undefined
    await mirrored.mirror.close()
    answers.end()
    expect(await mirrored.mirror.outbox.list()).toMatchObject([{ attempts: 1, state: 'pending' }, { attempts: 0 }])
    const next = createMirror(mirrored.test.registry)
    expect(await next.outbox.deliver()).toEqual({ delivered: 2, waiting: 0, inConflict: 0 })
    const { entries } = await upstream.test.api().getFeed({})
    expect(entries.map(({ subject }) => subject)).toEqual(['alice/pdf@1.0.0', 'alice/tea@1.0.0', 'alice/tea@1.1.0'])
    expect(mirrored.errors).toEqual([])
    await next.close()
  })
})

import { afterEach, expect, it } from 'vitest'
import { refusalOf } from '../support/answers.ts'
import { describeDatabases } from '../support/harness.ts'
import { endMirrors } from '../support/mirror-harness.ts'
import { expectSame, openPair, toSkillMd, type WritingPair } from '../support/mirror-writes-acts.ts'

const opened: WritingPair[] = []
afterEach(async () => {
  await endMirrors()
  for (const pair of opened.splice(0)) await pair.close()
})

describeDatabases('a write that the upstream refuses', (open) => {
  const openOne = async (options?: Parameters<typeof openPair>[1]) => {
    const pair = await openPair(open, options)
    opened.push(pair)
    return pair
  }

  it('blocks later writes to the same skill, but not to other skills', async () => {
    const pair = await openOne()
    await pair.upstream.publish('tea', '1.0.0', { body: 'Other.' })
    await pair.write('tea', '1.0.0')
    await pair.write('tea', '1.1.0')
    await pair.write('coffee')
    expect(await pair.deliver()).toEqual({ delivered: 1, waiting: 1, inConflict: 1 })
    const lines = ['publish ann/tea@1.0.0: conflict (version_exists)', 'publish ann/tea@1.1.0: pending']
    expect(await pair.waiting()).toEqual(lines)
    await expectSame(pair.upstream, 'alice/coffee', pair.mirrored, 'ann/coffee')
    const [status] = await pair.mirrored.mirror.status('main')
    expect(status).toMatchObject({ writesWaiting: 1, writesInConflict: 1 })
    expect(await refusalOf(pair.mirrored.mirror.remove('main'))).toMatchObject({ code: 'conflict' })
    // Nothing is tried again by itself.
    expect(await pair.deliver()).toEqual({ delivered: 0, waiting: 1, inConflict: 1 })
  })

  it('can be sent under another name, which later writes use too', async () => {
    const pair = await openOne()
    const { mirrored, upstream } = pair
    await upstream.publish('tea', '1.0.0', { body: 'Other.' })
    await pair.write('tea', '1.0.0')
    await pair.write('tea', '1.1.0')
    await pair.deliver()
    const id = await idOf(pair)
    expect(await refusalOf(mirrored.mirror.outbox.rename(id, 'alice/tea2'))).toMatchObject({ code: 'invalid_request' })
    // Of another skill of hers, which is on its way or there.
    await pair.write('coffee')
    for (const taken of ['coffee', 'pdf']) {
      expect(await refusalOf(mirrored.mirror.outbox.rename(id, taken))).toMatchObject({ code: 'name_taken' })
    }
    await mirrored.mirror.outbox.rename(id, 'green-tea')
    expect((await mirrored.mirror.outbox.list())[1]).toMatchObject({ subjectThere: 'alice/green-tea' })
    expect(await pair.deliver()).toEqual({ delivered: 3, waiting: 0, inConflict: 0 })
    await pair.write('tea', '1.2.0')
    expect(await pair.deliver()).toMatchObject({ delivered: 1, inConflict: 0 })
    const there = await upstream.test.api().getSkill({ name: 'alice/green-tea' })
    expect(there.versions.map(({ version }) => version)).toEqual(['1.2.0', '1.1.0', '1.0.0'])
    expect(there.frontmatter).toMatchObject({ name: 'green-tea' })
    expect(await upstream.test.api().getSkill({ name: 'alice/tea' })).toMatchObject({ latestVersion: '1.0.0' })
  })

  it('can be dropped, after which the later writes are sent', async () => {
    const pair = await openOne()
    const { mirrored, upstream } = pair
    await upstream.publish('tea', '1.0.0', { body: 'Other.' })
    await pair.write('tea', '1.0.0')
    await pair.write('tea', '1.1.0')
    await pair.deliver()
    const id = await idOf(pair)
    await mirrored.mirror.outbox.drop(id)
    expect(await refusalOf(mirrored.mirror.outbox.drop(id))).toMatchObject({ code: 'conflict' })
    expect(await refusalOf(mirrored.mirror.outbox.retry(id))).toMatchObject({ code: 'conflict' })
    expect(await pair.deliver()).toEqual({ delivered: 1, waiting: 0, inConflict: 0 })
    expect(await mirrored.mirror.outbox.list({ states: ['dropped'] })).toMatchObject([{ id, state: 'dropped' }])
    expect(await upstream.test.api().getSkill({ name: 'alice/tea' })).toMatchObject({ latestVersion: '1.1.0' })
  })

  it('can be retried after the conflict is resolved', async () => {
    const pair = await openOne({ link: false })
    const { mirrored, upstream, ann } = pair
    const { key, id: keyId } = await upstream.alice.api.createApiKey({ name: 'reader', scopes: ['read'] })
    await mirrored.mirror.accounts.link(ann.username, 'main', key)
    await pair.write('tea')
    await pair.deliver()
    expect(await pair.waiting()).toEqual(['publish ann/tea@1.0.0: conflict (forbidden)'])
    await upstream.alice.api.deleteApiKey({ id: keyId })
    await mirrored.mirror.outbox.retry(await idOf(pair))
    await pair.deliver()
    expect(await pair.waiting()).toEqual(['publish ann/tea@1.0.0: conflict (unauthorized)'])
    await mirrored.mirror.accounts.unlink(ann.username, 'main')
    await mirrored.mirror.outbox.retry(await idOf(pair))
    await pair.deliver()
    expect(await pair.waiting()).toEqual(['publish ann/tea@1.0.0: conflict (unlinked)'])
    await mirrored.mirror.accounts.link(ann.username, 'main', upstream.alice.key)
    await mirrored.mirror.outbox.retry(await idOf(pair))
    expect(await pair.deliver()).toEqual({ delivered: 1, waiting: 0, inConflict: 0 })
  })

  it('reports whether its skill was removed, its name taken, or its version changed', async () => {
    const pair = await openOne()
    const { mirrored, upstream, ann } = pair
    for (const name of ['gone', 'taken', 'newer']) await upstream.publish(name)
    await mirrored.mirror.sync('main')
    await upstream.alice.api.deleteSkill({ name: 'alice/gone' })
    await upstream.publish('mine', '1.0.0', { body: 'Other.' })
    await upstream.publish('newer', '2.0.0')
    await ann.api.starSkill({ name: 'alice/gone' })
    await ann.api.forkSkill({ name: 'alice/taken', newName: 'mine' })
    await ann.api.forkSkill({ name: 'alice/newer', newName: 'my-newer' })
    await pair.write('secret')
    await ann.api.publishSkill({ name: 'secret', visibility: 'private' })
    await pair.write('yanked')
    await ann.api.yankVersion({ name: 'ann/yanked', version: '1.0.0' })
    expect(await pair.deliver()).toMatchObject({ delivered: 0, inConflict: 5 })
    expect(await pair.waiting()).toEqual([
      'star alice/gone: conflict (not_found)',
      'fork ann/mine@1.0.0: conflict (name_taken)',
      'fork ann/my-newer@1.0.0: conflict (changed)',
      'publish ann/secret@1.0.0: conflict (changed)',
      'publish ann/yanked@1.0.0: conflict (changed)',
    ])
    for (const name of ['secret', 'yanked', 'my-newer']) {
      expect(await refusalOf(upstream.test.api('alice').getSkill({ name: `alice/${name}` }))).toMatchObject({
        code: 'not_found',
      })
    }
    // The fork takes another name.
    const fork = (await mirrored.mirror.outbox.list()).find(({ subject }) => subject === 'ann/mine')!
    await mirrored.mirror.outbox.rename(fork.id, 'mine-too')
    expect(await pair.deliver()).toMatchObject({ delivered: 1 })
    expect(await upstream.test.api().getSkill({ name: 'alice/mine-too' })).toMatchObject({
      forkedFrom: { fullName: 'alice/taken', version: '1.0.0' },
    })
  })

  it('is in conflict if the upstream stored different content', async () => {
    const pair = await openOne()
    await pair.write('tea')
    pair.network.fault = ({ method, body }) => {
      if (method !== 'PUT') return undefined
      const answer = JSON.parse(body.toString()) as { version: { digest: string } }
      return { body: JSON.stringify({ ...answer, version: { ...answer.version, digest: `sha256:${'0'.repeat(64)}` } }) }
    }
    expect(await pair.deliver()).toMatchObject({ delivered: 0, inConflict: 1 })
    expect(await pair.waiting()).toEqual(['publish ann/tea@1.0.0: conflict (altered)'])
  })

  it('cannot be renamed while the upstream may have received the write', async () => {
    const pair = await openOne()
    await pair.write('tea')
    pair.network.fault = ({ method }) => (method === 'PUT' ? { cut: 0 } : undefined)
    await pair.deliver()
    const [write] = await pair.mirrored.mirror.outbox.list()
    expect(write).toMatchObject({ state: 'pending', attempts: 1 })
    expect(await refusalOf(pair.mirrored.mirror.outbox.rename(write!.id, 'coffee'))).toMatchObject({ code: 'conflict' })
  })

  it('is never queued for private changes, or for users without a linked account', async () => {
    const pair = await openOne()
    const { mirrored, ann } = pair
    const other = await mirrored.test.makeUser()
    await other.api.publishSkill({ skillMd: toSkillMd('unlinked', 'Not linked.') })
    await other.api.forkSkill({ name: 'alice/pdf' })
    await other.api.starSkill({ name: 'alice/pdf' })
    await other.api.createReview({ name: 'alice/pdf', rating: 1, title: 'Bad', body: 'No.' })
    await ann.api.publishSkill({ skillMd: toSkillMd('private', 'Private.'), visibility: 'private' })
    await ann.api.publishSkill({ skillMd: toSkillMd('dry', 'Dry.'), dryRun: true })
    await ann.api.starSkill({ name: `${other.username}/unlinked` })
    expect(await pair.waiting()).toEqual([])
    // Once it is public, all of it goes.
    await ann.api.publishSkill({ skillMd: toSkillMd('private', 'More.'), version: '1.1.0' })
    await ann.api.publishSkill({ name: 'private', visibility: 'public' })
    expect(await pair.waiting()).toEqual(['1.0.0', '1.1.0'].map((version) => `publish ann/private@${version}: pending`))
    expect(await pair.deliver()).toEqual({ delivered: 2, waiting: 0, inConflict: 0 })
  })
})

async function idOf({ mirrored }: WritingPair): Promise<string> {
  const [write] = await mirrored.mirror.outbox.list({ states: ['conflict'] })
  return write!.id
}

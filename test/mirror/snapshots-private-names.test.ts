import { afterEach, expect, it } from 'vitest'
import { describeInTurn } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { openNetwork, type Network } from '../support/network.ts'

const networks: Network[] = []
afterEach(async () => {
  await endMirrors()
  for (const network of networks.splice(0)) await network.close()
})

const secretKey = new Uint8Array(32)
const notFound = { code: 'not_found' }

function toSkillMd(name: string): string {
  return `---\nname: ${name}\ndescription: Does ${name}\n---\n# ${name}\n\nDoes it.\n`
}

describeInTurn('an upstream that reports the owner of an API key', (open) => {
  /** An upstream with private skills of alice and bob, whose word for "you are" can be changed on the way. */
  async function openBoth() {
    const upstream = await openUpstream(open)
    const bob = await upstream.test.makeUser('bob')
    for (const user of [upstream.alice, bob]) {
      const skillMd = toSkillMd(`of-${user.username}`)
      await user.api.publishSkill({ skillMd, version: '1.0.0', visibility: 'private' })
    }
    const network = await openNetwork(upstream.url)
    networks.push(network)
    const { mirror, test } = await openMirror(open, {}, { secretKey })
    const say = (username: unknown) => {
      network.fault = ({ path }) => (path.endsWith('/users/me') ? { body: JSON.stringify({ username }) } : undefined)
    }
    return { upstream, bob, network, mirror, test, say }
  }

  it("cannot use the operator's key to write into the namespace of a user of this node", async () => {
    const { bob, network, mirror, test } = await openBoth()
    const own = await test.makeUser('bob')
    await mirror.add('main', network.url, { apiKey: bob.key })
    expect(await mirror.sync('main')).toMatchObject({
      applied: 0,
      refused: [
        { subject: 'bob', reason: 'owned_locally', detail: expect.stringContaining('mirror link main --user bob') },
      ],
    })
    await expect(own.api.getSkill({ name: 'bob/of-bob' })).rejects.toMatchObject(notFound)
    await mirror.accounts.link('bob', 'main', bob.key)
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refusedTotal: 0 })
    expect(await own.api.getSkill({ name: 'bob/of-bob' })).toMatchObject({ visibility: 'private' })
  })

  it('cannot change the owner name that it reported first', async () => {
    const { upstream, network, mirror, test, say } = await openBoth()
    await mirror.add('main', network.url, { apiKey: upstream.alice.key })
    expect(await mirror.sync('main')).toMatchObject({ applied: 1 })
    await upstream.publish('pdf')
    say('carol')
    await expect(mirror.sync('main')).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringMatching(/belongs to carol, and reported alice before/),
    })
    // Public skills are mirrored nevertheless.
    expect(await test.api().getSkill({ name: 'alice/pdf' })).toMatchObject({ latestVersion: '1.0.0' })
    await expect(mirror.sync('main', { full: true })).rejects.toMatchObject({ code: 'unauthorized' })
    network.fault = undefined
    expect(await mirror.sync('main')).toMatchObject({ applied: 0, refusedTotal: 0 })
  })

  it('cannot get skills imported under the name of another user, or block the skills of other users', async () => {
    const { upstream, bob, network, mirror, test, say } = await openBoth()
    const ann = await test.makeUser('ann')
    const alice = await test.makeUser('alice')
    await mirror.add('main', network.url)
    await mirror.accounts.link('ann', 'main', bob.key)
    await mirror.accounts.link('alice', 'main', upstream.alice.key)
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refusedTotal: 0 })
    expect(await alice.api.getSkill({ name: 'alice/of-alice' })).toMatchObject({ visibility: 'private' })
    say('ann')
    expect((await mirror.sync('main')).refused).toMatchObject([
      { subject: 'alice', detail: expect.stringContaining('belongs to ann, and reported alice before') },
      { subject: 'ann', detail: expect.stringContaining('belongs to ann, and reported bob before') },
    ])
    for (const { api } of [ann, alice, test.admin]) {
      await expect(api.getSkill({ name: 'bob/of-bob' })).rejects.toMatchObject(notFound)
      await expect(api.getSkill({ name: 'ann/of-bob' })).rejects.toMatchObject(notFound)
    }
  })

  it.each([['Not A Name'], [null], ['search']])(
    'cannot stop the sync of public skills by reporting the name %s',
    async (name) => {
      const { upstream, network, mirror, test, say } = await openBoth()
      await upstream.publish('pdf')
      say(name)
      await mirror.add('main', network.url, { apiKey: upstream.alice.key })
      expect(await mirror.sync('main')).toMatchObject({ applied: 1, refused: [{ subject: 'main', reason: 'missing' }] })
      expect((await test.api().searchSkills({})).total).toBe(1)
    },
  )
})

import { listenNode, type ListeningNode } from '@skillstead/server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeOrganisation } from '../support/collaboration.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'

const organisation = 'acme'

describeDatabases('the lists of gateways, for members of an organisation', (open) => {
  let test: TestRegistry
  let node: ListeningNode

  let alice: TestUser
  let bob: TestUser

  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    await makeOrganisation(test, organisation, { alice: 'owner' })
    const publish = (name: string, visibility: 'internal' | 'private', more: { organisation?: string } = {}) =>
      alice.api.publishSkill({ skillMd: skillMd(name), owner: organisation, visibility, ...more })
    await publish('of-users', 'internal')
    await publish('of-members', 'internal', { organisation })
    await publish('of-insiders', 'private')
    node = await listenNode(test.registry, { port: 0, rates: 'off', graceMs: 1000, requireKey: true })
  })
  afterAll(() => node.close())

  const get = (path: string, { key }: TestUser) =>
    fetch(`${node.url}${path}`, { headers: { authorization: `Bearer ${key}` } })

  async function namesIn(user: TestUser): Promise<string[]> {
    const response = await get('/acme/.well-known/agent-skills/index.json', user)
    const { skills } = (await response.json()) as { skills: { name: string }[] }
    return skills.map(({ name }) => name).toSorted()
  }

  const seen = async (user: TestUser) => ({
    index: await namesIn(user),
    npm: (await get('/npm/@acme%2fof-insiders', user)).status,
    apm: (await get('/apm/v1/packages/acme/of-insiders/versions', user)).status,
    oci: (await get('/v2/acme/of-insiders/tags/list', user)).status,
  })

  it('contain what a user reads by a role or a team, as soon as that changes', async () => {
    const { putMember, deleteMember, putTeam } = alice.api
    const none = { index: ['of-users'], npm: 404, apm: 404, oci: 404 }
    const inner = { ...none, index: ['of-members', 'of-users'] }
    const all = { index: ['of-insiders', 'of-members', 'of-users'], npm: 200, apm: 200, oci: 200 }
    expect(await seen(alice)).toEqual(all)
    expect(await seen(bob)).toEqual(none)
    await putMember({ organisation, username: bob.username, role: 'reader' })
    await bob.api.acceptMembership({ organisation })
    expect(await seen(bob)).toEqual(inner)
    await putMember({ organisation, username: bob.username, role: 'publisher' })
    expect(await seen(bob)).toEqual(all)
    await putMember({ organisation, username: bob.username, role: 'reader' })
    expect(await seen(bob)).toEqual(inner)
    await putTeam({
      organisation,
      team: 'tools',
      members: [bob.username],
      skills: [{ name: 'of-insiders', role: 'reader' }],
    })
    expect(await seen(bob)).toEqual(all)
    await putTeam({ organisation, team: 'tools', members: [] })
    expect(await seen(bob)).toEqual(inner)
    await deleteMember({ organisation, username: bob.username })
    expect(await seen(bob)).toEqual(none)
  })
})

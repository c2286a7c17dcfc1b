import { partsOf } from '@skillstead/core/internal'
import { includesPlan } from '@skillstead/protocol'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addCollaborator } from '../support/collaboration.ts'
import { skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'
import { actAll, actOthers, hookUp, makeWorld, openSilent, type Hook, type World } from '../support/webhook-emitted.ts'

/** A user with a webhook for published skills. */
interface Reader extends TestUser {
  readonly hook: Hook
}

async function makeReader(test: TestRegistry, role: 'user' | 'admin' = 'user'): Promise<Reader> {
  const user = await test.makeUser(undefined, { plan: 'pro', role })
  return { ...user, hook: await hookUp(test, user, { events: ['skill.published'] }) }
}

describeApi('events go to', (open) => {
  let test: TestRegistry
  let world: World
  beforeAll(async () => {
    test = await openSilent(open)
  })
  beforeEach(async () => {
    world = await makeWorld(test)
  })

  const allUsers = ['owner', 'reader', 'writer', 'stranger', 'admin']
  const sights: [
    visibility: 'public' | 'internal' | 'private',
    state: 'shown' | 'flagged' | 'hidden',
    who: string[],
  ][] = [
    ['public', 'shown', allUsers],
    ['internal', 'shown', allUsers],
    ['private', 'shown', ['owner', 'reader', 'writer']],
    ['public', 'flagged', allUsers],
    ['private', 'flagged', ['owner', 'reader', 'writer']],
    ['public', 'hidden', ['owner', 'admin']],
    ['internal', 'hidden', ['owner', 'admin']],
    ['private', 'hidden', ['owner', 'admin']],
  ]

  it.each(sights)('users who may see a %s skill that is %s', async (visibility, state, expected) => {
    const [reader, writer] = [await makeReader(test), await makeReader(test)]
    const [stranger, admin] = [await makeReader(test), await makeReader(test, 'admin')]
    const hooks = { owner: world.hook, reader: reader.hook, writer: writer.hook, stranger: stranger.hook }
    const name = world.full('seen')
    await world.publish('seen', undefined, visibility)
    await addCollaborator(test, world.owner, { name, username: reader.username, role: 'read' })
    await addCollaborator(test, world.owner, { name, username: writer.username, role: 'write' })
    await moderate(test, name, state)
    const all = Object.entries({ ...hooks, admin: admin.hook })
    for (const [, hook] of all) await hook.take()
    await world.publish('seen', '2.0.0', visibility)
    const told: string[] = []
    for (const [who, hook] of all) told.push(...(await hook.take()).map(() => who))
    expect(told).toEqual(expected)
  })

  it('no collaborator whose role was revoked', async () => {
    const reader = await makeReader(test)
    await world.publish('left', '1.0.0', 'private')
    const input = { name: world.full('left'), username: reader.username }
    await addCollaborator(test, world.owner, { ...input, role: 'read' })
    await world.publish('left', '2.0.0', 'private')
    expect(await reader.hook.take()).toHaveLength(1)
    await world.owner.api.deleteCollaborator(input)
    await world.publish('left', '3.0.0', 'private')
    expect(await reader.hook.take()).toEqual([])
  })

  it('only users who may see the fork, if a private skill is forked', async () => {
    const [reader, stranger] = [await makeReader(test), await makeReader(test)]
    const name = world.full('secret')
    await world.publish('secret', undefined, 'private')
    await addCollaborator(test, world.owner, { name, username: reader.username, role: 'read' })
    await world.hook.take()
    await reader.api.forkSkill({ name })
    expect(await reader.hook.take()).toHaveLength(1)
    expect(await world.hook.take()).toEqual([])
    expect(await stranger.hook.take()).toEqual([])
  })

  it('only the owner of a skill if another user stars, reviews or downloads the skill', async () => {
    const other = await test.makeUser(undefined, { plan: 'team' })
    const hooks = [await hookUp(test, other), await hookUp(test, test.admin)]
    await addCollaborator(test, world.owner, { name: world.full('main'), username: other.username, role: 'write' })
    await actOthers(world)
    const told = (await world.hook.take()).map(({ event }) => event)
    // A download is notified when it is counted, which may be before or after the next event.
    const others = told.filter((event) => event !== 'skill.downloaded')
    expect(others).toEqual(['skill.starred', 'skill.review.created', 'skill.issue.created', 'user.followed'])
    expect(told).toHaveLength(others.length + 1)
    for (const hook of hooks) expect(await hook.take()).toEqual([])
  })

  it('only the new owner after a transfer', async () => {
    const next = await test.makeUser(undefined, { plan: 'pro' })
    const hook = await hookUp(test, next)
    await world.owner.api.transferSkill({ name: world.full('main'), newOwner: next.username })
    await next.api.acceptTransfer({ name: world.full('main') })
    const name = `${next.username}/main`
    await world.bob.api.starSkill({ name })
    await world.bob.api.createReview({ name, rating: 3, title: 'So', body: 'So.' })
    await world.bob.api.createIssue({ name, type: 'bug', title: 'It', body: 'It.' })
    await world.bob.api.getSkillMd({ name })
    await test.api().track({ skillName: world.full('main') })
    const told = await hook.take()
    const events = ['skill.starred', 'skill.review.created', 'skill.issue.created', 'skill.downloaded']
    expect(told.map(({ event }) => event)).toEqual([...events, 'skill.downloaded'])
    expect(JSON.stringify(told)).not.toContain(world.full('main'))
    expect(await world.hook.take()).toEqual([])
  })

  it.each(['free', 'pro', 'team', 'enterprise'] as const)('users if the plan %s includes webhooks', async (plan) => {
    await test.admin.api.updateUser({ username: world.owner.username, plan })
    await actAll(world)
    expect(await world.hook.take()).toHaveLength(includesPlan(plan, 'pro') ? 6 : 0)
  })

  it('no disabled account, until the account is enabled again', async () => {
    const { username } = world.owner
    await test.admin.api.updateUser({ username, disabled: true })
    await actOthers(world)
    expect(await world.hook.take()).toEqual([])
    await test.admin.api.updateUser({ username, disabled: false })
    await world.publish('main', '9.0.0')
    await test.api().track({ skillName: world.full('main') })
    expect((await world.hook.take()).map(({ event }) => event)).toEqual(['skill.published', 'skill.downloaded'])
  })

  it('no disabled or deleted webhook', async () => {
    await world.owner.api.updateWebhook({ id: world.hook.id, active: false })
    const gone = await hookUp(test, world.owner)
    await world.owner.api.deleteWebhook({ id: gone.id })
    await actAll(world)
    expect([await world.hook.take(), await gone.take()]).toEqual([[], []])
  })

  it('a webhook with selected events', async () => {
    const hook = await hookUp(test, world.owner, { events: ['skill.starred', 'user.followed'] })
    await actAll(world)
    expect((await hook.take()).map(({ event }) => event)).toEqual(['skill.starred', 'user.followed'])
  })

  describe('a webhook with selected skills', () => {
    const filters: [what: string, skills: string[], about: string[]][] = [
      ['of one', ['OWNER/main'], ['main']],
      ['not of those whose names begin alike', ['OWNER/main-2', 'OWNER/mai'], ['main-2']],
      ["of all of an owner's", ['OWNER/*'], ['main', 'main-2']],
      ["not of another owner's", ['OWNERx/*', 'main/*', 'xOWNER/main'], []],
      ['of several', ['other/main', 'OWNER/main-2', 'OWNER/*'], ['main', 'main-2']],
    ]

    it.each(filters)('only about the selected skills and new followers: %s', async (_what, skills, about) => {
      await world.publish('main-2')
      const { username } = world.owner
      const hook = await hookUp(test, world.owner, { skills: skills.map((each) => each.replace('OWNER', username)) })
      for (const name of ['main', 'main-2']) await actAll(world, name)
      const told = await hook.take()
      expect(told.filter(({ event }) => event === 'user.followed')).toHaveLength(1)
      const names = told.flatMap(({ data }) => ('skill' in data ? [data.skill.name] : []))
      const shown = await Promise.all(about.map((name) => world.owner.api.getSkill({ name: world.full(name) })))
      expect(Map.groupBy(names, (name) => name)).toEqual(new Map(shown.map(({ name }) => [name, Array(5).fill(name)])))
    })

    it('even if the skills belong to other users', async () => {
      const follower = await test.makeUser(undefined, { plan: 'pro' })
      const hook = await hookUp(test, follower, { skills: [`${world.owner.username}/*`] })
      await world.publish('main', '1.5.0')
      await world.bob.api.publishSkill({ skillMd: skillMd('elsewhere') })
      await world.bob.api.starSkill({ name: world.full('main') })
      expect((await hook.take()).map(({ event }) => event)).toEqual(['skill.published'])
    })
  })
})

/** Sets a moderation state as administrators do; they cannot address private skills themselves. */
async function moderate({ registry }: TestRegistry, fullName: string, moderation: 'shown' | 'flagged' | 'hidden') {
  const state = moderation === 'hidden' ? 'hidden' : 'live'
  await partsOf(registry).database.writer.write(async (trx) => {
    await trx.updateTable('skills').set({ moderation, state }).where('full_name', '=', fullName).execute()
  })
}

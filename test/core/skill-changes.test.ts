import { setImmediate } from 'node:timers/promises'
import { openSkills, systemCaller, type SkillEvent, type Skills } from '@skillstead/core'
import { importVersions, partsOf } from '@skillstead/core/internal'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { removeChanges } from '../../packages/core/src/log/append-change.ts'
import { skillMd } from '../support/answers.ts'
import { dayMs, submitCase } from '../support/dmca-cases.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { extensions } from '../support/open-registry.ts'

/** An event without its position, in one line. */
const toLine = (event: SkillEvent) =>
  event.type === 'reset'
    ? 'reset'
    : `${event.type} ${event.fullName}${event.type === 'published' ? ` ${event.version}` : ''}`

const publish = (user: TestUser, name: string, version = '1.0.0') =>
  user.api.publishSkill({ skillMd: skillMd(name, { version, body: `# ${name}\n\n${version}\n` }) })
const makePrivate = (user: TestUser, name: string) => user.api.publishSkill({ name, visibility: 'private' })
const publishPrivate = (user: TestUser, name: string) =>
  user.api.publishSkill({ skillMd: skillMd(name), visibility: 'private' })

describeDatabases('the changes of skills', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  let markers = 0
  beforeAll(async () => {
    test = await open({ pollMs: 20 })
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
  })

  /** The skills of another process, as a user. */
  async function openAs(as?: string): Promise<Skills> {
    const skills = await openSkills({
      ...test.location,
      as,
      profile: 'short',
      pollMs: 20,
      clock: test.clock,
      extensions,
    })
    onTestFinished(() => skills.close())
    return skills
  }

  /** The events up to a skill that is published last, so that the absence of an event is seen too. */
  async function take(changes: AsyncIterable<SkillEvent>): Promise<SkillEvent[]> {
    const name = `marker-${++markers}`
    await publish(test.admin, name)
    const events: SkillEvent[] = []
    for await (const event of changes) {
      if (event.type !== 'reset' && event.fullName === `root/${name}`) break
      if (event.type === 'reset' || !event.fullName.startsWith('root/')) events.push(event)
    }
    return events
  }

  async function takeLines(changes: AsyncIterable<SkillEvent>): Promise<string[]> {
    return (await take(changes)).map(toLine)
  }

  it('are read as any process commits them, for public skills and the user’s own private skills', async () => {
    const [own, others, guests] = [await openAs('alice'), await openAs('bob'), await openAs()]
    const changes = [own.changes(), others.changes(), guests.changes()] as const
    await publish(alice, 'tea')
    await publishPrivate(alice, 'diary')
    await publish(alice, 'tea', '1.1.0')
    await alice.api.publishSkill({ name: 'tea', description: 'Other words.' })
    const visible = ['published alice/tea 1.0.0', 'published alice/tea 1.1.0', 'changed alice/tea']
    expect(await takeLines(changes[0])).toEqual(visible.toSpliced(1, 0, 'published alice/diary 1.0.0'))
    expect(await takeLines(changes[1])).toEqual(visible)
    expect(await takeLines(changes[2])).toEqual(visible)
  })

  it('wake an iteration that waits for changes', async () => {
    const skills = await openAs('bob')
    const next = skills.changes().next()
    await publish(alice, 'coffee')
    expect(toLine((await next).value!)).toBe('published alice/coffee 1.0.0')
  })

  it('of lost access are a removal for users who could see the skill, and nothing for other users', async () => {
    for (const short of ['deleted', 'closed', 'hidden', 'taken', 'shared']) await publish(alice, short)
    for (const short of ['secret', 'team', 'given']) await publishPrivate(alice, short)
    for (const short of ['team', 'given']) {
      await alice.api.putCollaborator({ name: `alice/${short}`, username: 'bob', role: 'read' })
      await bob.api.acceptCollaboration({ name: `alice/${short}` })
    }
    const readers = await Promise.all(['alice', 'bob', 'root', undefined].map(openAs))
    const changes = readers.map((skills) => skills.changes())

    await alice.api.deleteSkill({ name: 'deleted' })
    await makePrivate(alice, 'closed')
    await test.admin.api.moderateSkill({ name: 'alice/hidden', state: 'hidden', reason: '' })
    const { id } = await submitCase(test, 'alice/taken')
    await test.admin.api.updateDmca({ id, status: 'removed' })
    await alice.api.publishSkill({ name: 'shared', visibility: 'internal' })
    await alice.api.publishSkill({ name: 'secret', description: 'No one else may know.' })
    await alice.api.deleteSkill({ name: 'secret' })
    await alice.api.deleteCollaborator({ name: 'alice/team', username: 'bob' })
    await alice.api.deleteSkill({ name: 'given' })

    const [own, others, administrator, guests] = await Promise.all(changes.map(takeLines))
    expect(own).toEqual([
      'removed alice/deleted',
      'changed alice/closed',
      'changed alice/hidden',
      'removed alice/taken',
      'changed alice/shared',
      'removed alice/secret',
      'changed alice/team',
      'removed alice/given',
    ])
    const removed = ['removed alice/deleted', 'removed alice/closed', 'removed alice/hidden', 'removed alice/taken']
    expect(others).toEqual([...removed, 'changed alice/shared', 'removed alice/team', 'removed alice/given'])
    expect(administrator).toEqual([...removed.with(2, 'changed alice/hidden'), 'changed alice/shared'])
    expect(guests).toEqual([...removed, 'removed alice/shared'])

    // A process begins where it is, and it notices changes of others at its next poll.
    await Promise.all(readers.map(({ registry }) => partsOf(registry).changes.catchUp()))
    const later = readers.map((skills) => skills.changes())
    await alice.api.deleteSkill({ name: 'hidden' })
    const gone = await Promise.all(later.map(takeLines))
    expect(gone).toEqual([['removed alice/hidden'], [], ['removed alice/hidden'], []])
  })

  it('of a transfer are a removal of the old name and a change of the new name, each for users who may see it', async () => {
    await publish(alice, 'boat')
    await publishPrivate(alice, 'raft')
    const carol = await test.makeUser('carol')
    await alice.api.putCollaborator({ name: 'alice/raft', username: 'carol', role: 'read' })
    await carol.api.acceptCollaboration({ name: 'alice/raft' })
    const [own, others, third] = [await openAs('alice'), await openAs('bob'), await openAs('carol')]
    const changes = [own.changes(), others.changes(), third.changes()] as const
    for (const name of ['alice/boat', 'alice/raft']) {
      await alice.api.transferSkill({ name, newOwner: 'bob' })
      await bob.api.acceptTransfer({ name })
    }
    const moved = ['removed alice/boat', 'changed bob/boat']
    expect(await takeLines(changes[0])).toEqual([...moved, 'removed alice/raft'])
    expect(await takeLines(changes[1])).toEqual([...moved, 'changed bob/raft'])
    expect(await takeLines(changes[2])).toEqual([...moved, 'removed alice/raft'])
  })

  it('describe the skill at the time of reading, so that a hidden skill is only reported as removed', async () => {
    const skills = await openAs('bob')
    const changes = skills.changes()
    await publish(alice, 'brief')
    await publish(alice, 'brief', '2.0.0')
    await makePrivate(alice, 'brief')
    expect(await takeLines(changes)).toEqual(['removed alice/brief'])
  })

  it('continue with every later change after any position, in another process and across pages', async () => {
    const skills = await openAs('bob')
    const changes = skills.changes()
    const names = Array.from({ length: 110 }, (_, i) => `many-${i}`)
    const items = names.map((name) => ({ owner: 'alice', name, skillMd: skillMd(name) }))
    await importVersions(partsOf(test.registry), items, systemCaller)
    await alice.api.transferSkill({ name: 'many-0', newOwner: 'bob' })
    await bob.api.acceptTransfer({ name: 'alice/many-0' })
    await alice.api.publishSkill({ name: 'many-1', keywords: ['new'] })
    const events = await take(changes)
    expect(events).toHaveLength(110 + 2 + 1)
    const again = await openAs('bob')
    for (const at of [0, 98, 99, 100, 110, 111, 112]) {
      const rest = await takeLines(again.changes({ from: events[at]!.position }))
      // The two events of a transfer are one change: a consumer that processed only the first receives both again.
      expect(rest).toEqual(events.slice(at === 110 ? at : at + 1).map(toLine))
    }
  })

  it('begin with a reset if changes after the position were deleted, or if the position is of another registry', async () => {
    const skills = await openAs('bob')
    const changes = skills.changes()
    await publish(alice, 'old')
    const [{ position } = { position: '' }] = await take(changes)
    test.clock.advance(2 * dayMs)
    const { writer } = partsOf(test.registry).database
    await writer.write((trx) => removeChanges(trx, test.clock.now() - dayMs))
    const [origin, epoch, seq] = position.split('+')
    const unknown = [position, `other+${epoch}+${seq}`, `${origin}+77+${seq}`, `${origin}+${epoch}+999999999`]
    for (const from of unknown) {
      const late = skills.changes({ from })
      const first = (await late.next()).value!
      expect(first.type).toBe('reset')
      await publish(alice, `new-${markers}`)
      expect(await takeLines(late)).toEqual([`published alice/new-${markers - 1} 1.0.0`])
      const after = await takeLines(skills.changes({ from: first.position }))
      expect(after[0]).toMatch(/^published alice\/new-/)
    }
    expect(() => skills.changes({ from: 'yesterday' })).toThrow(TypeError)
  })

  it('end at once when the program leaves an iteration that waits', async () => {
    const changes = (await openAs('bob')).changes()
    const waiting = changes.next()
    await setImmediate()
    expect(await changes.return()).toEqual({ done: true, value: undefined })
    expect(await waiting).toEqual({ done: true, value: undefined })
  })

  it('end when the registry closes, and throw the reason of an aborted signal', async () => {
    const skills = await openAs('bob')
    const ending = new AbortController()
    const stopped = skills.changes({ signal: ending.signal }).next()
    const closed = skills.changes().next()
    ending.abort(new Error('Enough.'))
    await expect(stopped).rejects.toThrow('Enough.')
    await skills.close()
    expect(await closed).toEqual({ done: true, value: undefined })
    expect(() => skills.changes()).toThrow(expect.objectContaining({ code: 'closed' }))
    const aborted = (await openAs('bob')).changes({ signal: AbortSignal.abort(new Error('Early.')) })
    await expect(aborted.next()).rejects.toThrow('Early.')
  })
})

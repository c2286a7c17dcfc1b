import { partsOf } from '@skillstead/core/internal'
import { beforeAll, expect, it } from 'vitest'
import { codeOf, skillMd, textOf } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const dayMs = 24 * 60 * 60 * 1000

describeApi('links that share a private skill', (open, { transport }) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    for (const name of ['shared', 'other'])
      await alice.api.publishSkill({ skillMd: skillMd(name), visibility: 'private' })
  })

  const share = (expiresInDays?: number) => alice.api.createShare({ name: 'alice/shared', expiresInDays })

  it('give their holder read access to only that skill', async () => {
    const { token, expiresAt } = await share()
    expect(expiresAt).toBe('2026-01-09T12:00:00.000Z')
    const holder = test.apiWith({ shareToken: token })
    expect(await holder.getSkill({ name: 'alice/shared' })).toMatchObject({ visibility: 'private' })
    expect(await textOf(await holder.getSkillMd({ name: 'alice/shared' }))).toContain('name: shared')
    expect(await codeOf(holder.getSkill({ name: 'alice/other' }))).toBe('not_found')
    expect(await codeOf(holder.publishSkill({ name: 'alice/shared', deprecated: true }))).toBe('unauthorized')
    const user = test.apiWith({ shareToken: token }, bob)
    expect(await user.getSkill({ name: 'alice/shared' })).toMatchObject({ name: 'alice/shared' })
    expect(await codeOf(user.deleteSkill({ name: 'alice/shared' }))).toBe('forbidden')
    // The holder of a link may read the skill, but not fork, rate or discuss it.
    for (const call of [
      () => user.forkSkill({ name: 'alice/shared' }),
      () => user.starSkill({ name: 'alice/shared' }),
      () => user.createReview({ name: 'alice/shared', rating: 1, title: 'Seen', body: 'Seen.' }),
      () => user.createIssue({ name: 'alice/shared', type: 'bug', title: 'Seen', body: 'Seen.' }),
      () => holder.createAgentReview({ name: 'alice/shared', agentKey: 'codex:holder', rating: 1, content: 'Seen.' }),
    ])
      expect(await codeOf(call())).toBe('forbidden')
    // A response to the holder is not cached for others.
    expect(await codeOf(test.api().getSkill({ name: 'alice/shared' }))).toBe('not_found')
    expect(await codeOf(bob.api.getSkill({ name: 'alice/shared' }))).toBe('not_found')
  })

  it('do not work while their owner is disabled', async () => {
    const carol = await test.makeUser('carol')
    await carol.api.publishSkill({ skillMd: skillMd('closed'), visibility: 'private' })
    const { token } = await carol.api.createShare({ name: 'carol/closed' })
    const holder = test.apiWith({ shareToken: token })
    expect(await holder.getSkill({ name: 'carol/closed' })).toMatchObject({ name: 'carol/closed' })
    await test.admin.api.updateUser({ username: 'carol', disabled: true })
    expect(await codeOf(holder.getSkill({ name: 'carol/closed' }))).toBe('not_found')
    expect(await codeOf(holder.getSkillMd({ name: 'carol/closed' }))).toBe('not_found')
    await test.admin.api.updateUser({ username: 'carol', disabled: false })
    expect(await holder.getSkill({ name: 'carol/closed' })).toMatchObject({ name: 'carol/closed' })
  })

  it('end when they expire and when they are deleted', async () => {
    const short = await share(1)
    const long = await share(30)
    await alice.api.deleteShare({ name: 'alice/shared', id: long.id })
    expect(await codeOf(test.apiWith({ shareToken: long.token }).getSkill({ name: 'alice/shared' }))).toBe('not_found')
    const holder = test.apiWith({ shareToken: short.token })
    await holder.getSkill({ name: 'alice/shared' })
    test.clock.advance(dayMs)
    expect(await codeOf(holder.getSkill({ name: 'alice/shared' }))).toBe('not_found')
    expect(await codeOf(alice.api.deleteShare({ name: 'alice/shared', id: long.id }))).toBe('not_found')
  })

  it('are created and listed by the owner, with the token shown only once', async () => {
    const { id, token } = await share()
    expect(await codeOf(bob.api.createShare({ name: 'alice/shared' }))).toBe('not_found')
    expect(await codeOf(bob.api.listShares({ name: 'alice/shared' }))).toBe('not_found')
    const { shares } = await alice.api.listShares({ name: 'alice/shared' })
    expect(shares.map((item) => item.id)).toContain(id)
    expect(JSON.stringify(shares)).not.toContain(token)
    const rows = await partsOf(test.registry).database.read.selectFrom('shares').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(token)
    expect(await codeOf(test.apiWith({ shareToken: `${token}x` }).getSkill({ name: 'alice/shared' }))).toBe('not_found')
  })

  it('stop working when their creator is no longer the owner', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('handed'), visibility: 'private' })
    const hand = () => alice.api.createShare({ name: 'alice/handed' })
    const { token } = await hand()
    await alice.api.transferSkill({ name: 'alice/handed', newOwner: 'bob' })
    const shares = Promise.allSettled(Array.from({ length: 8 }, hand))
    await bob.api.acceptTransfer({ name: 'alice/handed' })
    const late = (await shares).map((end) => (end.status === 'fulfilled' ? end.value.token : undefined))
    const tokens = [token, ...late].filter((each) => each !== undefined)
    for (const shareToken of tokens) {
      const holder = test.apiWith({ shareToken })
      expect(await codeOf(holder.getSkill({ name: 'bob/handed' }))).toBe('not_found')
    }
    expect(await bob.api.listShares({ name: 'bob/handed' })).toEqual({ shares: [], total: 0 })
    const own = await bob.api.createShare({ name: 'bob/handed' })
    expect(await test.apiWith({ shareToken: own.token }).getSkill({ name: 'bob/handed' })).toBeDefined()
  })

  it('are not created for a skill that its owner deletes at the same moment', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('deleted'), visibility: 'private' })
    const name = 'alice/deleted'
    const shares = Array.from({ length: 8 }, () => alice.api.createShare({ name }))
    await Promise.allSettled([alice.api.deleteSkill({ name }), ...shares])
    const { entries } = await test.admin.api.listAudit({ limit: 100 })
    const actions = entries.filter(({ subject }) => subject === name).map(({ action }) => action)
    expect(actions[0], 'the last thing that was done to it').toBe('skill.delete')
  })

  it.runIf(transport === 'HTTP')('are not cached by proxies', async () => {
    const { token } = await share()
    const response = await test.request('/api/v1/skills/alice%2Fshared', { headers: { 'x-share-token': token! } })
    expect(response.headers.get('cache-control')).toBe('private, no-store')
  })
})

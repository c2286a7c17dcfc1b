import { expect, it } from 'vitest'
import { partsOf } from '@skillstead/core/internal'
import { skillMd } from '../support/answers.ts'
import { makeOrganisation } from '../support/collaboration.ts'
import { describeApi } from '../support/harness.ts'
import { sampleOf } from '../support/security-samples.ts'
import { hookUp } from '../support/webhook-emitted.ts'

describeApi('the number of notices in a session', (open) => {
  it('counts the items that wait for an action of the user, and no items of other users', async () => {
    const test = await open({ scanPolicy: { dangerous: 'quarantine' } })
    const alice = await test.makeUser('alice')
    const bob = await test.makeUser('bob', { plan: 'team' })
    const noticesOf = async (user: typeof alice) => (await user.api.getSession()).notices
    expect(await test.api().getSession()).toEqual({ user: null, notices: 0 })
    expect([await noticesOf(alice), await noticesOf(bob)]).toEqual([0, 0])

    for (const name of ['shared', 'given']) await alice.api.publishSkill({ skillMd: skillMd(name) })
    await alice.api.putCollaborator({ name: 'shared', username: 'bob', role: 'read' })
    expect(await noticesOf(bob)).toBe(1)
    await alice.api.transferSkill({ name: 'given', newOwner: 'bob' })
    expect([await noticesOf(bob), await noticesOf(alice)]).toEqual([2, 0])
    const { quarantined } = await bob.api.publishSkill({ skillMd: sampleOf('dangerous', 'waits') })
    expect([await noticesOf(bob), await noticesOf(test.admin)]).toEqual([3, 0])

    for (const name of ['hidden', 'flagged', 'gone']) await bob.api.publishSkill({ skillMd: skillMd(name) })
    await test.admin.api.moderateSkill({ name: 'bob/hidden', state: 'hidden', reason: 'Spam.' })
    for (const name of ['bob/flagged', 'bob/gone'])
      await test.admin.api.moderateSkill({ name, state: 'flagged', reason: 'Look twice.' })
    expect(await noticesOf(bob)).toBe(6)
    await bob.api.deleteSkill({ name: 'bob/gone' })
    const moderated = await bob.api.listOwnSkills({ moderated: true })
    expect(moderated.skills.map(({ fullName }) => fullName).toSorted()).toEqual(['bob/flagged', 'bob/hidden'])
    expect(moderated.total).toBe(2)
    expect(await noticesOf(bob)).toBe(5)

    await hookUp(test, bob)
    expect(await noticesOf(bob)).toBe(5)
    await bob.api.acceptCollaboration({ name: 'alice/shared' })
    await bob.api.acceptTransfer({ name: 'alice/given' })
    await bob.api.deleteQuarantined({ id: quarantined!.id })
    await test.admin.api.moderateSkill({ name: 'bob/hidden', state: 'shown', reason: 'Fine.' })
    expect(await noticesOf(bob)).toBe(1)
  })

  it('counts quarantined versions of an organisation for its owners and reviewers', async () => {
    const test = await open()
    for (const name of ['olga', 'rae', 'rita']) await test.makeUser(name)
    await makeOrganisation(test, 'acme', { olga: 'owner', rae: 'reviewer', rita: 'reader' })
    await test.api('olga').publishSkill({ name: 'acme/tool', skillMd: skillMd('tool') })
    await test.api('olga').setPolicy({ organisation: 'acme', policy: { approvals: { count: 1, when: 'always' } } })
    await test.api('olga').publishSkill({ name: 'acme/tool', skillMd: skillMd('tool', { body: 'Second.' }) })
    const { writer } = partsOf(test.registry).database
    // As a rescan does.
    await writer.write(async (trx) => {
      const { id } = await trx.selectFrom('versions').select('id').executeTakeFirstOrThrow()
      await trx.insertInto('quarantined_versions').values({ version_id: id, quarantined_at: 0 }).execute()
    })
    for (const [user, count] of [
      ['olga', 2],
      ['rae', 2],
      ['rita', 0],
    ] as const) {
      expect((await test.api(user).getSession()).notices, user).toBe(count)
      expect((await test.api(user).listQuarantined({ own: true })).total, user).toBe(count)
    }
  })
})

import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { refusalOf, skillMd } from '../support/answers.ts'
import { describeDatabases, type TestUser } from '../support/harness.ts'
import { sampleOf } from '../support/security-samples.ts'

const kibibyte = 1024
const file = (bytes: number) => ({
  path: 'data.bin',
  content: randomBytes(bytes).toString('base64'),
  encoding: 'base64' as const,
})

const publish = ({ api }: TestUser, name: string, bytes: number) =>
  api.publishSkill({ skillMd: skillMd(name), files: [file(bytes)] })

describeDatabases('the storage quota', (open) => {
  it('refuses additions that exceed the quota of a free-plan user, with advice', async () => {
    const test = await open({ storageQuotaBytes: 100 * kibibyte, scanPolicy: { dangerous: 'quarantine' } })
    const alice = await test.makeUser('alice')
    const bob = await test.makeUser('bob')
    const paying = await test.makeUser('paying', { plan: 'pro' })
    await publish(alice, 'first', 60 * kibibyte)
    const refusal = await refusalOf(publish(alice, 'second', 60 * kibibyte))
    expect(refusal).toMatchObject({ code: 'payload_too_large', status: 413 })
    expect(refusal.message).toMatch(
      /^alice stores 60\.\d KiB of 100 KiB, .+ and this version takes 60\.\d KiB\. Withdraw /,
    )
    // Counts for the owner, not the publisher; forks count as well.
    await bob.api.forkSkill({ name: 'alice/first' })
    expect((await refusalOf(publish(bob, 'second', 60 * kibibyte))).code).toBe('payload_too_large')
    await publish(paying, 'large', 200 * kibibyte)
    // Content that is already stored takes no more space.
    await alice.api.publishSkill({ name: 'first', description: 'Other.' })
    const held = { skillMd: sampleOf('dangerous', 'bad'), files: [file(30 * kibibyte)] }
    await alice.api.publishSkill(held)
    expect((await refusalOf(publish(alice, 'third', 30 * kibibyte))).code).toBe('payload_too_large')
  })

  it('counts deleted skills, since versions are never removed', async () => {
    const test = await open({ storageQuotaBytes: 100 * kibibyte })
    const alice = await test.makeUser('alice')
    await publish(alice, 'first', 60 * kibibyte)
    await alice.api.deleteSkill({ name: 'first' })
    const refusal = await refusalOf(publish(alice, 'second', 60 * kibibyte))
    expect(refusal).toMatchObject({ code: 'payload_too_large', status: 413 })
    expect(refusal.message).toMatch(
      /^alice stores 60\.\d KiB of 100 KiB, deleted skills included, and this version takes /,
    )
    expect((await refusalOf(alice.api.getSkill({ name: 'alice/second' }))).code).toBe('not_found')
    await publish(alice, 'third', 30 * kibibyte)
  })

  it("refuses a transfer that exceeds the new owner's quota, and keeps the offer", async () => {
    const test = await open({ storageQuotaBytes: 100 * kibibyte })
    const [alice, bob] = [await test.makeUser('alice'), await test.makeUser('bob')]
    await publish(alice, 'first', 60 * kibibyte)
    await publish(bob, 'second', 60 * kibibyte)
    await alice.api.transferSkill({ name: 'first', newOwner: 'bob' })
    const refusal = await refusalOf(bob.api.acceptTransfer({ name: 'alice/first' }))
    expect(refusal).toMatchObject({ code: 'payload_too_large', status: 413 })
    expect(refusal.message).toMatch(
      /^bob stores 60\.\d KiB of 100 KiB, deleted skills included, and alice\/first takes 60/,
    )
    expect(await bob.api.getSkill({ name: 'alice/first' })).toMatchObject({ fullName: 'alice/first' })
    expect(await bob.api.listTransfers({})).toMatchObject({ transfers: [{ fullName: 'alice/first', newOwner: 'bob' }] })
    const carol = await test.makeUser('carol')
    await alice.api.transferSkill({ name: 'first', newOwner: 'carol' })
    expect(await carol.api.acceptTransfer({ name: 'alice/first' })).toMatchObject({ fullName: 'carol/first' })
    await publish(alice, 'third', 60 * kibibyte)
  })

  it('is unlimited if it is 0', async () => {
    const test = await open({ storageQuotaBytes: 0 })
    const { created } = await publish(await test.makeUser('alice'), 'first', 60 * kibibyte)
    expect(created).toBe(true)
  })
})

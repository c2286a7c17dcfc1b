import { expect, it } from 'vitest'
import { codeOf, fieldsOf, refusalOf, skillMd } from '../support/answers.ts'
import { makeOrganisation } from '../support/collaboration.ts'
import { describeApi } from '../support/harness.ts'

describeApi('a key that is limited', (open) => {
  it('to an owner can publish and yank skills of that owner, and change nothing else', async () => {
    const test = await open()
    const alice = await test.makeUser('alice')
    await makeOrganisation(test, 'acme', { alice: 'owner' })
    const made = await alice.api.createApiKey({ name: 'CI', limitedTo: 'acme' })
    expect(made).toMatchObject({ limitedTo: 'acme', scopes: ['read', 'publish'] })
    expect((await alice.api.listApiKeys()).apiKeys.map(({ limitedTo }) => limitedTo)).toEqual(['acme', null])
    const limited = test.apiWithKey(made.key)
    await limited.publishSkill({ name: 'acme/pdf', skillMd: skillMd('pdf'), version: '1.0.0' })
    await limited.publishSkill({ name: 'acme/pdf', description: 'Changed.' })
    await limited.yankVersion({ name: 'acme/pdf', version: '1.0.0' })
    await limited.unyankVersion({ name: 'acme/pdf', version: '1.0.0' })
    expect((await limited.getMe()).username).toBe('alice')

    await alice.api.publishSkill({ skillMd: skillMd('own'), version: '1.0.0' })
    const refused = [
      () => limited.publishSkill({ skillMd: skillMd('own') }),
      () => limited.publishSkill({ skillMd: skillMd('unborn') }),
      () => limited.publishSkill({ name: 'alice/own', description: 'Changed.' }),
      () => limited.publishSkill({ name: 'acmex/own', skillMd: skillMd('own') }),
      () => limited.yankVersion({ name: 'alice/own', version: '1.0.0' }),
      () => limited.forkSkill({ name: 'acme/pdf' }),
      () => limited.createPack({ name: 'Pack', description: 'A pack.', skills: ['acme/pdf'] }),
      () => limited.createReview({ name: 'acme/pdf', rating: 5 } as never),
      () => limited.createApiKey({ name: 'wider' }),
      () => limited.createSession(),
      () => limited.updateMe({ displayName: 'Other' }),
    ]
    for (const [index, call] of refused.entries()) expect([index, await codeOf(call())]).toEqual([index, 'forbidden'])
    const refusal = await refusalOf(limited.publishSkill({ skillMd: skillMd('own') }))
    expect(refusal.message).toContain('limited to acme')
    expect((await alice.api.getSkill({ name: 'alice/own' })).latestVersion).toBe('1.0.0')
  })

  it('to a skill cannot publish other skills of the same owner', async () => {
    const test = await open()
    const alice = await test.makeUser('alice')
    const { key } = await alice.api.createApiKey({ name: 'CI', limitedTo: 'alice/pdf' })
    const limited = test.apiWithKey(key)
    await limited.publishSkill({ skillMd: skillMd('pdf') })
    for (const name of ['pdf-tools', 'pd', 'other'])
      expect(await codeOf(limited.publishSkill({ skillMd: skillMd(name) })), name).toBe('forbidden')
  })

  it('cannot have the scope manage, or a limit that is neither an owner nor the full name of a skill', async () => {
    const test = await open()
    const alice = await test.makeUser('alice')
    for (const limitedTo of ['Acme', 'acme/', '/pdf', 'acme/pdf/x', 'acme pdf', '%'])
      expect(await fieldsOf(alice.api.createApiKey({ name: 'x', limitedTo })), limitedTo).toEqual(['limitedTo'])
    const wide = alice.api.createApiKey({ name: 'x', limitedTo: 'acme', scopes: ['publish', 'manage'] })
    expect(await fieldsOf(wide)).toEqual(['scopes'])
  })
})

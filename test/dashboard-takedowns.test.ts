import { localApi } from '@skillstead/core'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeBrowser, findBarriers, takePicture, visit } from './browser-harness.ts'

async function expectNoBarriers(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await findBarriers(page)).toEqual([])
  }
}

describeBrowser('what happens to a skill against the will of its owner', () => {
  test('a claimant sends a notice, sees with the token what was stated, and the owner answers', async () => {
    const { open, openSignedIn, api, createUser } = await visit()
    const owner = await createUser('bob')
    const claimant = await open('/skills/alice/pdf/report', { expectedStatuses: [403] })
    await claimant.getByRole('link', { name: 'send the operator a DMCA notice' }).click()
    expect(await claimant.getByLabel('The skill', { exact: true }).inputValue()).toBe('alice/pdf')
    await expectNoBarriers(claimant)
    await claimant.getByLabel('Your name').fill('Carol Claimant')
    await claimant.getByLabel('Your e-mail address').fill('carol@example.com')
    await claimant.getByLabel('What is yours').fill('All the words of it')
    await claimant.getByLabel('Signature').fill('Carol Claimant')
    await claimant.getByRole('button', { name: 'Send the notice' }).click()
    expect((await api.listDmca({})).total).toBe(0)
    await claimant.getByLabel('I believe in good faith').check()
    await claimant.getByLabel('This notice is accurate').check()
    await takePicture(claimant, 'takedown-notice')
    await claimant.getByRole('button', { name: 'Send the notice' }).click()
    const token = (await claimant.getByRole('main').locator('pre').textContent())!
    expect(token).toMatch(/^sct_/)
    await claimant.getByRole('link', { name: 'where you see how it stands' }).click()
    await claimant.getByText('submitted').first().waitFor()
    expect(await claimant.content()).not.toContain('Carol')
    expect(await claimant.content()).not.toContain(token)
    expect(claimant.url()).not.toContain(token)
    await claimant.getByText('I have the token of this case').click()
    await claimant.getByLabel('Token').fill('sct_none')
    await claimant.getByRole('button', { name: 'Show what was stated' }).click()
    await claimant.getByRole('alert').getByText('is not that of this case').waitFor()
    await claimant.getByLabel('Token').fill(token)
    await claimant.getByRole('button', { name: 'Show what was stated' }).click()
    await claimant.getByText('Notice by Carol Claimant').click()
    await claimant.getByText('All the words of it').waitFor()
    await expectNoBarriers(claimant)

    const id = new URL(claimant.url()).pathname.split('/').at(-1)!
    await api.updateDmca({ id, status: 'removed' })
    const other = await openSignedIn('/skills/alice/pdf', { key: owner, expectedStatuses: [451] })
    await other.getByRole('alert').getByText('Taken down').waitFor()
    expect(await other.getByRole('link', { name: 'takedown case' }).count()).toBe(0)
    const alice = await openSignedIn('/skills/alice/pdf', { expectedStatuses: [451] })
    await alice.getByRole('link', { name: 'takedown case' }).click()
    await alice.getByText('Answer with a counter-notice').click()
    await alice.getByLabel('Your name').fill('Alice Owner')
    await alice.getByLabel('Your e-mail address').fill('alice@example.com')
    await alice.getByLabel('Your postal address').fill('1 Main Street')
    await alice.getByLabel('Why it was a mistake').fill('I wrote all of it.')
    await alice.getByLabel('I believe in good faith').check()
    await alice.getByLabel('I consent to the jurisdiction').check()
    await alice.getByLabel('Signature').fill('Alice Owner')
    await takePicture(alice, 'takedown-answer')
    await alice.getByRole('button', { name: 'Send the counter-notice' }).click()
    await expect.poll(async () => (await api.getDmca({ id })).status).toBe('counter_noticed')
    await alice.getByText('counter noticed').first().waitFor()
  })

  test('an administrator hides a skill, and its owner appeals from its page', async () => {
    const { openSignedIn, createUser, api, registry } = await visit()
    const bobsKey = await createUser('bob')
    await localApi(registry, await registry.getCaller('bob')).publishSkill({
      skillMd: '---\nname: tidy\ndescription: Tidies a folder up\n---\n# Tidy\n',
    })
    const admin = await openSignedIn('/skills/bob/tidy')
    await admin.getByText('Manage this skill').click()
    await admin.getByText('Decide', { exact: false }).first().click()
    await admin.getByLabel('Decision').selectOption('hidden')
    await admin.getByLabel('Note').fill('It is not what it says.')
    await admin.getByRole('button', { name: 'Decide' }).click()
    await expect.poll(async () => (await api.getModeration({ name: 'bob/tidy' })).state).toBe('hidden')

    const bob = await openSignedIn('/skills/bob/tidy', { key: bobsKey })
    const standing = bob.getByRole('region', { name: 'How this skill stands' })
    await standing.getByText('nobody else sees it').waitFor()
    await standing.getByText('It is not what it says.').waitFor()
    await standing.getByLabel('Why should they think again?').fill('It does tidy up.')
    await standing.getByRole('button', { name: 'Send the appeal' }).click()
    await standing.getByRole('list', { name: 'Your appeals' }).getByText('It does tidy up.').waitFor()
    expect(await standing.getByRole('button', { name: 'Send the appeal' }).count()).toBe(0)
    await expectNoBarriers(bob)
    await takePicture(bob, 'skill-hidden')
    const [appeal] = (await api.listReports({ status: 'open' })).reports
    await api.decideReport({ id: appeal!.id, status: 'upheld', note: 'You are right.' })
    await bob.reload()
    await bob.getByRole('heading', { level: 1, name: 'bob/tidy' }).waitFor()
    await expect.poll(() => standing.count()).toBe(0)
  })
})

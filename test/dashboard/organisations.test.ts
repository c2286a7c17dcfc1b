import { localApi } from '@skillstead/core'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { findBarriers } from '../support/axe-barriers.ts'
import { describeBrowser, goWithin, isFocused, visit, type Visit } from '../support/browser-harness.ts'
import { settle } from '../support/browser-windows.ts'

const toSkillMd = (name: string, body = '', license = 'MIT') =>
  `---\nname: ${name}\ndescription: Writes ${name}\nlicense: ${license}\n---\n# ${name}\n\n${body}\n`

/** Drops a SKILL.md on the page that publishes, as a mouse does. */
async function drop(page: Page, content: string): Promise<void> {
  const transfer = await page.evaluateHandle((text) => {
    const data = new DataTransfer()
    data.items.add(new File([text], 'SKILL.md'))
    return data
  }, content)
  await page.locator('.drop').dispatchEvent('drop', { dataTransfer: transfer })
}

/** Opens a window in which a new user is signed in. */
async function openNew({ createUser, openSignedIn }: Visit, username: string, path: string) {
  const key = await createUser(username)
  return openSignedIn(path, { key, isOwn: true })
}

const nextTo = (page: Page, label: string) => page.getByLabel(label, { exact: true })

describeBrowser('the pages of organisations', () => {
  test('let users create an organisation, invite a member, set rules, and publish, discuss and approve a skill', async () => {
    const visited = await visit()
    const { openSignedIn, registry } = visited
    const anna = await openNew(visited, 'anna', '/account')
    const alice = await openSignedIn('/account', { isOwn: true })

    await alice.getByText('Create an organisation').click()
    await alice.getByLabel('Organisation name').fill('acme')
    await alice.getByRole('button', { name: 'Create', exact: true }).click()
    await alice.getByRole('heading', { level: 1, name: 'acme' }).waitFor()
    await alice.getByText('Invite a member').click()
    await nextTo(alice, 'User').fill('anna')
    await alice.getByLabel('Role', { exact: true }).selectOption('publisher')
    await alice.getByRole('button', { name: 'Invite', exact: true }).click()
    await alice.getByRole('row', { name: /anna.*invited/ }).waitFor()
    expect(await findBarriers(alice)).toEqual([])

    await anna.reload()
    await anna.getByText('acme invites you to become a member, as publisher').waitFor()
    await anna.getByRole('button', { name: 'Accept' }).click()
    await anna.getByText('acme invites you').waitFor({ state: 'detached' })
    await anna.getByRole('link', { name: 'acme' }).click()
    await anna.getByRole('row', { name: /alice.*owner/ }).waitFor()
    await expect.poll(() => anna.getByText('Invite a member').count()).toBe(0)
    await expect.poll(() => anna.getByRole('link', { name: 'Settings' }).count()).toBe(0)

    const owner = localApi(registry, await registry.getCaller('alice'))
    await owner.publishSkill({ owner: 'acme', skillMd: toSkillMd('old-notes', '', 'Proprietary') })
    await goWithin(alice, '/organisations/acme/rules')
    await alice.getByLabel('Approvals before').fill('1')
    await alice.getByLabel('Licences').fill('MIT, Apache-2.0')
    await alice.getByRole('button', { name: 'Preview' }).click()
    const preview = alice.getByRole('region', { name: 'Preview' })
    await preview.getByText('1 of 1 stored skill').waitFor()
    await expect.poll(() => preview.innerText()).toMatch(/acme\/old-notes 1\.0\.0\s+.*Proprietary/s)
    expect((await owner.getPolicy({ organisation: 'acme' })).policy).toEqual({})
    expect(await findBarriers(alice)).toEqual([])
    await alice.getByLabel('Maximum bytes').fill('9')
    await preview.waitFor({ state: 'detached' })
    await alice.getByLabel('Maximum bytes').fill('')
    await alice.getByRole('button', { name: 'Preview' }).click()
    await preview.getByRole('button', { name: 'Save these rules' }).click()
    await alice.getByText('Saved. The rules apply').waitFor()
    expect((await owner.getPolicy({ organisation: 'acme' })).policy).toEqual({
      approvals: { count: 1, when: 'always' },
      licenses: ['MIT', 'Apache-2.0'],
    })

    await goWithin(anna, '/account/publish')
    await drop(anna, toSkillMd('notes', 'Say what changed.'))
    await anna.getByText('Owner, version, changes').click()
    await anna.getByLabel('Owner').selectOption('acme')
    await anna.getByLabel('Visibility').selectOption('Internal: members of acme')
    await anna.getByRole('button', { name: 'Check again' }).click()
    await anna.getByRole('heading', { name: 'acme/notes 1.0.0' }).waitFor()
    await anna.getByRole('button', { name: 'Publish 1.0.0' }).click()
    await anna.getByText('acme/notes 1.0.0 waits for approval: it is published when its reviewers approve it').waitFor()
    await anna.getByRole('link', { name: 'See the submission' }).click()
    await anna.getByRole('heading', { level: 1, name: 'acme/notes 1.0.0' }).waitFor()
    await expect.poll(() => anna.getByRole('button', { name: 'Approve' }).count()).toBe(0)
    await expect.poll(() => anna.getByRole('button', { name: 'Withdraw' }).count()).toBe(1)

    await goWithin(alice, '/account/reviews')
    await alice.reload()
    await alice.getByRole('row', { name: /acme\/notes 1\.0\.0.*anna.*0 of 1 approval/ }).waitFor()
    await alice.getByRole('link', { name: 'acme/notes' }).click()
    await alice.getByRole('button', { name: 'Comment on line 8' }).click()
    await expect.poll(() => nextTo(alice, 'Line').inputValue()).toBe('8')
    await expect.poll(() => isFocused(nextTo(alice, 'Comment'))).toBe(true)
    await nextTo(alice, 'Comment').fill('To whom?')
    await alice.getByRole('button', { name: 'Comment on line 6' }).click()
    await expect.poll(() => nextTo(alice, 'Line').inputValue()).toBe('6')
    for (const _ of ['first', 'again']) {
      await alice.getByRole('button', { name: 'Comment on line 8' }).click()
      await expect.poll(() => isFocused(nextTo(alice, 'Comment'))).toBe(true)
    }
    await expect.poll(() => nextTo(alice, 'Comment').inputValue()).toBe('To whom?')
    await alice.getByRole('button', { name: 'Comment', exact: true }).click()
    await alice.getByText('SKILL.md, line 8').waitFor()
    await expect.poll(() => alice.locator('.file-patch').getByText('To whom?').count()).toBe(1)
    await alice.getByRole('button', { name: 'Request changes' }).click()
    await alice.getByText('0 of 1 approval, changes requested').waitFor()
    expect(await findBarriers(alice)).toEqual([])
    await alice.getByRole('button', { name: 'Approve' }).click()
    await alice.waitForURL('**/skills/acme/notes')
    const published = await owner.getSkill({ name: 'acme/notes' })
    expect(published).toMatchObject({ visibility: 'internal', organisation: 'acme', latestVersion: '1.0.0' })
  })

  test('let each role do only its allowed actions on a skill, and give guests and other users no actions', async () => {
    const visited = await visit()
    const { openSignedIn, registry, open, createUser } = visited
    const owner = localApi(registry, await registry.getCaller('alice'))
    await owner.createOrganisation({ name: 'acme', displayName: 'Acme Inc.' })
    await owner.publishSkill({ owner: 'acme', skillMd: toSkillMd('notes') })
    const openAs = async (role: 'publisher' | 'reader') => {
      const key = await createUser(role)
      await owner.putMember({ organisation: 'acme', username: role, role })
      await localApi(registry, await registry.getCaller(role)).acceptMembership({ organisation: 'acme' })
      const page = await openSignedIn('/skills/acme/notes', { key, isOwn: true })
      await settle(page)
      return page
    }
    const reader = await openAs('reader')
    await expect.poll(() => reader.getByRole('link', { name: 'Manage' }).count()).toBe(0)
    const publisher = await openAs('publisher')
    await publisher.getByRole('link', { name: 'Manage' }).click()
    await publisher.getByText('Details and visibility').click()
    await publisher.getByLabel('Display name').waitFor()
    await expect.poll(() => publisher.getByLabel('Visibility').count()).toBe(0)
    await expect.poll(() => publisher.getByText('Collaborators and transfer').count()).toBe(0)
    const alice = await openSignedIn('/skills/acme/notes/manage', { isOwn: true })
    await alice.getByText('Details and visibility').click()
    await alice.getByLabel('Visibility').selectOption('Internal: members of acme')
    await alice.getByRole('button', { name: 'Save' }).click()
    await alice.getByText('Saved.').waitFor()
    expect(await owner.getSkill({ name: 'acme/notes' })).toMatchObject({ organisation: 'acme' })

    const stranger = await openSignedIn('/users/acme', {
      key: await createUser('other'),
      isOwn: true,
      expectedStatuses: [404],
    })
    await stranger.getByText('organisation', { exact: true }).waitFor()
    await expect.poll(() => stranger.getByRole('link', { name: 'Members, teams and rules' }).count()).toBe(0)
    await goWithin(stranger, '/organisations/acme/rules')
    await stranger.getByText('Only members of acme see this page').waitFor()
    await goWithin(stranger, '/organisations/none')
    await stranger.getByRole('alert').waitFor()
    const guest = await open('/organisations/acme', { isOwn: true })
    await guest.getByRole('heading', { level: 1, name: 'Sign in required' }).waitFor()
    await guest.getByText('Only users of this node see this page').waitFor()
    await expect.poll(() => guest.content()).not.toContain('Acme Inc.')
  })

  test('change roles and teams, and let a member leave and an owner delete the organisation', async () => {
    const visited = await visit()
    const { openSignedIn, registry, createUser } = visited
    const owner = localApi(registry, await registry.getCaller('alice'))
    await owner.createOrganisation({ name: 'acme' })
    await owner.publishSkill({ owner: 'acme', skillMd: toSkillMd('notes') })
    const key = await createUser('ben')
    await owner.putMember({ organisation: 'acme', username: 'ben', role: 'reader' })
    await localApi(registry, await registry.getCaller('ben')).acceptMembership({ organisation: 'acme' })
    const alice = await openSignedIn('/organisations/acme', { isOwn: true, expectedStatuses: [409] })
    await alice.getByLabel('Role of ben').selectOption('admin')
    await expect
      .poll(async () => (await owner.listMembers({ organisation: 'acme' })).members)
      .toContainEqual({ username: 'ben', role: 'admin', status: 'accepted' })

    await alice.getByRole('link', { name: 'Teams' }).click()
    await alice.getByText('Create a team').click()
    await alice.getByLabel('Team name').fill('release')
    await alice.getByRole('button', { name: 'Create the team' }).click()
    await alice.getByLabel('Member of the organisation').fill('ben')
    await alice.getByRole('button', { name: 'Add the member' }).click()
    await alice.getByRole('button', { name: 'Remove ben' }).waitFor()
    await expect.poll(() => alice.getByLabel('Role', { exact: true }).inputValue()).toBe('reader')
    await alice.getByLabel('Skill', { exact: true }).fill('notes')
    await alice.getByLabel('Role', { exact: true }).selectOption('publisher')
    await alice.getByRole('button', { name: 'Give the role' }).click()
    await alice.getByText('notes as publisher').waitFor()
    expect(await findBarriers(alice)).toEqual([])
    const { teams } = await owner.listTeams({ organisation: 'acme' })
    expect(teams).toEqual([{ name: 'release', members: ['ben'], skills: [{ name: 'notes', role: 'publisher' }] }])

    const ben = await openSignedIn('/organisations/acme', { key, isOwn: true })
    await ben.getByRole('button', { name: 'Leave' }).click()
    await ben.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await ben.getByRole('heading', { level: 1, name: 'ben' }).waitFor()
    await goWithin(alice, '/organisations/acme/settings')
    const remove = async () => {
      await alice.getByRole('button', { name: 'Delete the organisation' }).click()
      await alice.getByRole('dialog').getByRole('button', { name: 'Delete the organisation' }).click()
    }
    await remove()
    await alice.getByText('Transfer or delete them first').waitFor()
    await alice.getByRole('button', { name: 'Cancel' }).click()
    await owner.deleteSkill({ name: 'acme/notes' })
    await remove()
    await alice.getByText('You are in no organisation').waitFor()
  })

  test('add and remove trust in the CI jobs of a known service and of another issuer', async () => {
    const visited = await visit()
    const { openSignedIn, registry, createUser } = visited
    const owner = localApi(registry, await registry.getCaller('alice'))
    await owner.createOrganisation({ name: 'acme' })
    const key = await createUser('ben')
    await owner.putMember({ organisation: 'acme', username: 'ben', role: 'publisher' })
    await localApi(registry, await registry.getCaller('ben')).acceptMembership({ organisation: 'acme' })
    const alice = await openSignedIn('/organisations/acme', { isOwn: true, expectedStatuses: [400] })
    await alice.getByRole('link', { name: 'CI jobs' }).click()
    await alice.getByText('No CI job may publish').waitFor()
    await alice.getByText('Trust CI jobs').click()
    await nextTo(alice, 'Skill').fill('notes')
    await nextTo(alice, 'Repository').fill('*')
    await nextTo(alice, 'Branch or tag').fill('refs/tags/*')
    await nextTo(alice, 'Other claims').fill('event_name = push\n\nactor=a=b')
    await alice.getByRole('button', { name: 'Trust these jobs' }).click()
    await alice.getByRole('alert').getByText('otherwise strangers could publish').first().waitFor()
    expect((await owner.listTrustedPublishers({ owner: 'acme' })).total).toBe(0)
    await nextTo(alice, 'Repository').fill('acme/skills')
    await alice.getByRole('button', { name: 'Trust these jobs' }).click()
    await alice.getByRole('row', { name: /acme\/notes GitHub Actions .*repository: acme\/skills/s }).waitFor()
    expect(await findBarriers(alice)).toEqual([])
    expect((await owner.listTrustedPublishers({ owner: 'acme' })).publishers).toMatchObject([
      {
        target: 'acme/notes',
        issuer: 'https://token.actions.githubusercontent.com',
        claims: { repository: 'acme/skills', ref: 'refs/tags/*', event_name: 'push', actor: 'a=b' },
      },
    ])
    await alice.getByRole('button', { name: 'Remove' }).click()
    await alice.getByRole('dialog').getByText('Keys that they were given end at once').waitFor()
    await alice.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await alice.getByText('No CI job may publish').waitFor()

    await goWithin(alice, '/account/ci')
    await alice.getByText('Trust CI jobs').click()
    await alice.getByLabel('Jobs of').selectOption('Another issuer')
    await alice.getByLabel('Issuer').fill('https://ci.example.com')
    await nextTo(alice, 'Claims').fill('no claim')
    await alice.getByRole('button', { name: 'Trust these jobs' }).click()
    await alice.getByRole('alert').waitFor()
    await nextTo(alice, 'Claims').fill('sub=alice')
    await alice.getByRole('button', { name: 'Trust these jobs' }).click()
    await alice.getByRole('row', { name: /all of alice https:\/\/ci\.example\.com sub: alice/ }).waitFor()

    const ben = await openSignedIn('/organisations/acme', { key, isOwn: true })
    await ben.getByRole('link', { name: 'Rules' }).waitFor()
    await expect.poll(() => ben.getByRole('link', { name: 'CI jobs' }).count()).toBe(0)
  })

  test('keep rules that allow nothing when the user saves another rule', async () => {
    const { openSignedIn, api } = await visit()
    await api.createOrganisation({ name: 'acme' })
    const policy = { licenses: [], hosts: [], publicBy: [] }
    await api.setPolicy({ organisation: 'acme', policy })
    const page = await openSignedIn('/organisations/acme/rules')
    await page.getByLabel('Names', { exact: true }).fill('acme-*')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('button', { name: 'Save these rules' }).click()
    await page.getByText('Saved. The rules apply').waitFor()
    const saved = await api.getPolicy({ organisation: 'acme' })
    expect(saved.policy).toEqual({ ...policy, namePattern: 'acme-*' })
  })
})

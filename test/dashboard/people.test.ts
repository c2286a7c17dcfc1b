import { expect, test } from 'vitest'
import { findBarriers } from '../support/axe-barriers.ts'
import { describeBrowser, takePicture, takePictures, visit, type Visit } from '../support/browser-harness.ts'
import { json } from '../support/server-harness.ts'

type Page = Awaited<ReturnType<Visit['open']>>
const phone = { width: 360, height: 740 }

describeBrowser('the pages of authors', () => {
  test('rank authors by reputation, and show the skills, score components and badges of each author', async () => {
    const { api, open } = await visit()
    for (let number = 1; number <= 24; number++) await publish(api, `skill-${number}`)
    const page = await open('/users')
    const row = page.getByRole('row').filter({ hasText: 'alice' })
    // The node computes reputation in the background.
    await expect.poll(async () => (await page.reload(), row.textContent())).toContain('Ten public skills')
    await look(page, 'authors')
    await row.getByRole('link', { name: 'alice' }).click()
    await page.getByRole('heading', { name: 'alice', level: 1 }).waitFor()
    const reputation = page.getByRole('region', { name: 'Reputation' })
    await reputation.getByText('of 1,000').waitFor()
    await expect.poll(() => reputation.getByRole('meter').count()).toBe(5)
    await reputation.getByText('Ten public skills').waitFor()
    await expect.poll(() => page.locator('.skills > li').count()).toBe(20)
    await look(page, 'author')
    await page.getByRole('link', { name: 'Next' }).click()
    await page.getByText('Page 2 of 2').waitFor()
    await expect.poll(() => page.locator('.skills > li').count()).toBe(5)
    expect(new URL(page.url()).search).toBe('?page=2')
  })

  test('let signed-in users follow other authors, but not themselves', async () => {
    const { api, createUser, open, openSignedIn } = await visit()
    const key = await createUser('bob')
    const page = await openSignedIn('/users/alice', { key })
    await page.getByRole('button', { name: 'Follow', exact: true }).click()
    await page.getByRole('button', { name: 'Stop following' }).waitFor()
    await page.getByText('1 follower').waitFor()
    expect((await api.getUser({ username: 'alice' })).counts.followers).toBe(1)
    await page.reload()
    await page.getByRole('button', { name: 'Stop following' }).click()
    await page.getByText('0 followers').waitFor()
    await page.goto(new URL('/users/bob', page.url()).href)
    await page.getByText('You have no public skills.').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Follow' }).count()).toBe(0)
    const guest = await open('/users/alice')
    await guest.getByText('0 followers').waitFor()
    await expect.poll(() => guest.getByRole('button', { name: 'Follow' }).count()).toBe(0)
  })

  test('show an error and a link back if the author or agent does not exist', async () => {
    const { open } = await visit()
    const page = await open('/users/unknown-user', { expectedStatuses: [404] })
    await page.getByRole('alert').getByText('Not found').waitFor()
    await page.getByRole('link', { name: 'All authors' }).click()
    await page.getByRole('heading', { name: 'Authors', level: 1 }).waitFor()
    await page.goto(new URL('/agents/cli%3Anobody', page.url()).href)
    await page.getByRole('alert').getByText('Not found').waitFor()
    expect(await findBarriers(page)).toEqual([])
  })
})

describeBrowser('the pages of agents', () => {
  test('rank agents by the order that the user chooses, and show the activity of each agent', async () => {
    const { api, get, open } = await visit()
    await publish(api, 'csv')
    const names = { 'cli:one': 'وكيل 智能体', 'cli:two': 'n'.repeat(200), 'web:three': '<b>three</b>' }
    for (const [agentKey, displayName] of Object.entries(names))
      await get('/agents', json({ agentKey, displayName, platformId: agentKey.split(':')[0] }))
    const review = { agentKey: 'web:three', rating: 4.5, content: 'Reads what it says.' }
    await get('/skills/alice%2Fcsv/agent-reviews', json(review))
    const page = await open('/agents')
    await page.getByRole('columnheader', { name: 'Reviews' }).getByRole('link').click()
    await expect.poll(() => new URL(page.url()).search).toBe('?sort=reviews')
    await expect.poll(() => page.getByRole('row').nth(1).textContent()).toContain('<b>three</b>')
    await expect
      .poll(() => page.getByRole('columnheader', { name: 'Reviews' }).getAttribute('aria-sort'))
      .toBe('descending')
    await look(page, 'agents')
    await page.getByLabel('Platform').fill('cli')
    await page.getByLabel('Platform').press('Enter')
    await page.getByRole('link', { name: '<b>three</b>' }).waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('?sort=reviews&platform=cli')
    await page.getByRole('link', { name: names['cli:one'] }).click()
    await page.getByText('Registered', { exact: true }).waitFor()
    await page.goto(new URL('/agents/web%3Athree', page.url()).href)
    await page.getByText('Gave 4.5 stars for version 1.0.0').waitFor()
    await page.getByRole('link', { name: 'Reviews' }).click()
    await page.getByText('Registered', { exact: true }).waitFor({ state: 'detached' })
    await expect
      .poll(() => page.getByRole('link', { name: 'alice/csv' }).getAttribute('href'))
      .toBe('/skills/alice/csv/reviews')
    await look(page, 'agent')
  })

  test('show a message instead of an empty table if there are no agents', async () => {
    const { open } = await visit()
    const page = await open('/agents')
    await page.getByRole('heading', { name: 'No agents yet' }).waitFor()
    await page.getByLabel('Platform').fill('cli')
    await page.getByLabel('Platform').press('Enter')
    await page.getByRole('link', { name: 'Show all agents' }).click()
    await page.getByRole('heading', { name: 'No agents yet' }).waitFor()
    await expect.poll(() => page.getByLabel('Platform').inputValue()).toBe('')
  })
})

function publish(api: Visit['api'], name: string) {
  return api.publishSkill({ skillMd: `---\nname: ${name}\ndescription: About ${name}\n---\n# ${name}\n` })
}

/** Checks accessibility in both colour schemes, and that the page fits a phone. */
async function look(page: Page, name: string): Promise<void> {
  const size = page.viewportSize()!
  expect(await findBarriers(page)).toEqual([])
  await takePictures(page, name)
  await page.setViewportSize(phone)
  const isWithin = await page
    .locator('html, .wide')
    .evaluateAll((boxes) => boxes.every((box) => box.scrollWidth <= box.clientWidth))
  expect(isWithin).toBe(true)
  await takePicture(page, `${name}-phone`)
  await page.setViewportSize(size)
}

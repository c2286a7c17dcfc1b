import { localApi } from '@skillstead/core'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { findBarriers } from '../support/axe-barriers.ts'
import { describeBrowser, goWithin, takePicture, visit, type Visit } from '../support/browser-harness.ts'
import { settle } from '../support/browser-windows.ts'
import { sample } from '../support/long.ts'
import { json } from '../support/server-harness.ts'

/** A request without a response has no status. */
const away = { expectedStatuses: [Number.NaN] }

describeBrowser('a dashboard whose node is unavailable', () => {
  const paths = (
    '/ /skills/alice/pdf /skills/alice/pdf/versions /packs /packs/office /trending /agents /users /users/alice ' +
    '/requests /external /account /account/keys /account/ci /account/sessions /account/webhooks /admin /admin/mirrors /admin/outbox /admin/storage'
  ).split(' ')

  test('reports the unavailable node on every page, and loads the page when the node is available again', async () => {
    const { openSignedIn, api, node } = await visit()
    await api.createPack({ slug: 'office', name: 'Office', description: 'For paper', skills: [{ name: 'alice/pdf' }] })
    const page = await openSignedIn('/', away)
    for (const path of sample(paths, 6)) {
      await page.route('**/api/**', (route) => route.abort())
      await page.goto(node.url + path)
      await page.getByRole('alert').getByText('The node does not respond').first().waitFor()
      expect([path, await page.getByRole('heading', { level: 1 }).count()]).toEqual([path, 1])
      expect([path, await findBarriers(page)]).toEqual([path, []])
      await page.unroute('**/api/**')
      await retryAll(page)
      await page.getByRole('button', { name: 'Menu of alice' }).waitFor()
      await expect.poll(async () => [path, await page.getByText('Loading…').count()]).toEqual([path, 0])
    }
  })

  test('says that a sign-out failed, and signs the user out when the node is available again', async () => {
    const { openSignedIn } = await visit()
    const page = await openSignedIn('/', away)
    await page.getByRole('button', { name: 'Menu of alice' }).click()
    await page.route('**/api/v1/session', (route) => route.abort())
    await page.getByRole('button', { name: 'Sign out' }).click()
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('The node does not respond')
    await page.unroute('**/api/v1/session')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in' }).waitFor()
  })

  test('sends requests even if the browser reports no network, because the node may run on the same machine', async () => {
    const { open } = await visit()
    const page = await open('/', away)
    // The browser reports no network, the page still sends its requests, and these fail.
    await page.getByRole('link', { name: 'Trending' }).click()
    await page.getByRole('heading', { level: 1, name: 'Trending' }).waitFor()
    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'Month' }).click()
    await page.getByRole('alert').getByText('The node does not respond').first().waitFor()
    await page.context().setOffline(false)
    await retryAll(page)
    expect(new URL(page.url()).search).toBe('?period=month')
  })

  test('explains that the script of a page cannot be loaded because the node is unavailable or was updated', async () => {
    const { open } = await visit()
    const page = await open('/', { expectedStatuses: [Number.NaN, 404] })
    await page.route('**/assets/**', (route) => route.abort())
    await page.getByRole('link', { name: 'Packs' }).click()
    await page.getByRole('heading', { level: 1, name: 'This page could not be loaded' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.unroute('**/assets/**')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { level: 1, name: 'Packs' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/packs')
  })
})

describeBrowser('a session in the dashboard', () => {
  const places = [
    '//evil.invalid/x',
    'https://evil.invalid',
    '/\\evil.invalid',
    '/\t/evil.invalid',
    '\\\\evil.invalid',
    '/.//evil.invalid',
    'javascript:alert(1)',
    'evil',
    '/account/sign-in?next=/packs',
    '',
  ]

  test('that has ended leads to the sign-in page, and after sign-in back to the former page', async () => {
    const { openSignedIn, api, createUser } = await visit()
    const key = await createUser('bob')
    const page = await openSignedIn('/account/skills', { key, expectedStatuses: [401] })
    // A pending request would otherwise detect the ended session first, and replace the page.
    await page.getByText('You have not published any skills').waitFor()
    await api.updateUser({ username: 'bob', disabled: true })
    await page.getByRole('navigation', { name: 'Account' }).getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sign in required' }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Menu of bob' }).count()).toBe(0)
    await api.updateUser({ username: 'bob', disabled: false })
    await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
    await signIn(page, key)
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/account/keys')
  })

  test('that ends while the user fills in a form does not lose the input', async () => {
    const { openSignedIn, api, createUser } = await visit()
    const key = await createUser('bob')
    const page = await openSignedIn('/skills/alice/pdf/reviews', { key, expectedStatuses: [401] })
    await page.getByLabel('Title').fill('Reads them well')
    await api.updateUser({ username: 'bob', disabled: true })
    await page.getByRole('button', { name: 'Publish the review' }).click()
    const alert = page.getByRole('alert')
    await alert.getByText('Sign in required').waitFor()
    await api.updateUser({ username: 'bob', disabled: false })
    const [other] = await Promise.all([
      page.context().waitForEvent('page'),
      alert.getByRole('link', { name: 'Sign in in a new window' }).click(),
    ])
    await signIn(other, key)
    await other.getByRole('heading', { level: 1, name: 'alice/pdf' }).waitFor()
    await expect.poll(() => page.getByLabel('Title').inputValue()).toBe('Reads them well')
    await page.getByRole('button', { name: 'Publish the review' }).click()
    await page.getByRole('heading', { name: 'Reads them well' }).waitFor()
  })

  test('is required for every page of a private node; sign-in leads to the requested page', async () => {
    const { open, key } = await visit({ requireKey: true })
    const page = await open('/packs?q=office', { expectedStatuses: [401] })
    await page.getByRole('heading', { level: 1, name: 'This node is private' }).waitFor()
    await expect.poll(() => page.getByRole('alert').count()).toBe(0)
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'private-node')
    await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
    await signIn(page, key)
    await page.getByText('No pack matches').waitFor()
    expect(new URL(page.url()).search).toBe('?q=office')
  })

  test('never starts with a redirect to another site, whatever the address of the sign-in page contains', async () => {
    const { open, key, node } = await visit()
    const page = await open('/account/sign-in')
    for (const next of places) {
      await page.goto(`${node.url}/account/sign-in?next=${encodeURIComponent(next)}`)
      await signIn(page, key)
      await page.getByRole('heading', { level: 1, name: 'alice' }).waitFor()
      expect([next, page.url()]).toEqual([next, `${node.url}/account`])
      // A pending request without the cookie would be refused.
      await settle(page)
      await page.context().clearCookies()
    }
  })
})

describeBrowser('addresses in the dashboard', () => {
  test('that do not exist or are malformed show an error and a link back', async () => {
    const { open, node } = await visit()
    const page = await open('/', { expectedStatuses: [400, 404] })
    const paths = [
      '/account/nowhere',
      '/skills/alice/pdf/nowhere',
      '/users/%E0%A4%A',
      '/skills/%ff/%fe',
      '/packs/%',
      '/%',
    ]
    for (const path of paths) {
      await goWithin(page, path)
      await page.getByText(/There is no (?:page at this address|such page of this skill)/).waitFor()
      expect([path, await page.getByRole('heading', { level: 1 }).count()]).toEqual([path, 1])
      await goWithin(page, '/')
      await page.getByRole('link', { name: 'alice/pdf' }).first().waitFor()
    }
    for (const path of ['/users/%E0%A4%A', '/account/%ff']) {
      await page.goto(node.url + path)
      await page.getByText('There is no page at this address').waitFor()
    }
    for (const path of ['/skills/alice%2Fpdf/x', '/skills/no%20body/%F0%9F%8D%B5', '/packs/no%2Fpack', '/agents/%00']) {
      await page.goto(node.url + path)
      await page.getByRole('alert').first().waitFor()
      expect([path, await page.getByRole('heading', { level: 1 }).count()]).toEqual([path, 1])
    }
  })
})

describeBrowser('a dashboard on a slow network', () => {
  test('shows that a page is loading, lets the reader leave, and shows no late response on another page', async () => {
    const { open, api } = await visit()
    await api.createPack({ slug: 'office', name: 'Office', description: 'For paper', skills: [{ name: 'alice/pdf' }] })
    const page = await open('/trending', away)
    const arrival = Promise.withResolvers<void>()
    await page.route('**/api/v1/packs**', async (route) => {
      await arrival.promise
      await route.continue()
    })
    await page.getByRole('link', { name: 'Packs' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Packs' }).waitFor()
    await page.getByText('Loading…').first().waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('link', { name: 'Trending' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Trending' }).waitFor()
    const answered = page.waitForResponse('**/api/v1/packs**')
    arrival.resolve()
    await answered
    await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe('Trending')
    await expect.poll(() => page.getByRole('main').getByText('For paper').count()).toBe(0)
    await page.getByRole('link', { name: 'Packs' }).first().click()
    await page.getByText('For paper').waitFor()
    await expect.poll(() => page.getByRole('alert').count()).toBe(0)
  })

  test('cancels a search when the user leaves its page, while the other page loads', async () => {
    const { open } = await visit()
    const page = await open('/', { isOwn: true })
    const arrival = Promise.withResolvers<void>()
    await page.route('**/assets/packs-page-*', async (route) => {
      await arrival.promise
      await route.continue()
    })
    await page.clock.install()
    await page.getByRole('main').getByRole('combobox').fill('paper')
    await page.getByRole('link', { name: 'Packs' }).first().click()
    await page.clock.runFor(10_000)
    arrival.resolve()
    await page.getByRole('heading', { level: 1, name: 'Packs' }).waitFor()
    expect(new URL(page.url()).search).toBe('')
  })

  test('keeps the user on the current page when an action of a former page ends', async () => {
    const { open, key } = await visit()
    const page = await open('/account/sign-in')
    const arrival = Promise.withResolvers<void>()
    await page.route('**/api/v1/session', async (route) => {
      if (route.request().method() === 'POST') await arrival.promise
      await route.continue()
    })
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'Publish', exact: true }).first().click()
    await page.waitForURL('**/account/publish')
    arrival.resolve()
    await page.getByText('Drop the folder of a skill here').waitFor()
    await page.getByRole('button', { name: 'Menu of alice' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/account/publish')
  })
})

describeBrowser('a skill of 500 files', () => {
  test('has a tree of all its files that fits a phone, and shows the chosen file', async () => {
    const { open, api } = await visit()
    const files = Array.from({ length: 499 }, (_, at) => {
      const folder = `part-${Math.floor(at / 50)}/${'deep/'.repeat(at % 5)}`
      return { path: `${folder}${'n'.repeat(at % 90)}${at} 🍵.md`, content: `Text ${at} of many.\n` }
    })
    await api.publishSkill({ skillMd: '---\nname: big\ndescription: Has many files.\n---\nRead them.\n', files })
    const path = encodeURIComponent(files[498]!.path)
    const page = await open(`/skills/alice/big/files?path=${path}`, { viewport: { width: 320, height: 740 } })
    await page.getByText('Text 498 of many.').waitFor()
    await page.getByText('500 files').first().waitFor()
    await expect.poll(() => page.locator('.files nav a').count()).toBe(500)
    expect(await page.evaluate(findOverflow)).toBe(0)
    expect(await findBarriers(page)).toEqual([])
  })
})

describeBrowser('a catalogue with texts in many scripts', () => {
  test('isolates the writing direction of each text, and fits the width of a phone', async () => {
    const visited = await visit()
    const { skill, bobsKey } = await fillWithScripts(visited)
    const parts = '?view=rendered ?view=raw /versions /versions?from=1.0.0&to=1.0.1 /reviews /issues /files'.split(' ')
    const others = '/ /?q=%D8%B9%D8%B1%D8%A8%D9%8A /packs /packs/scripts /requests /users/bob /users /agents /account'
    const paths = [...parts.map((part) => `/skills/${skill}${part}`), ...others.split(' '), '/account/skills']
    const trouble: string[] = []
    const page = await visited.openSignedIn('/', { key: bobsKey, viewport: { width: 360, height: 740 } })
    for (const path of paths) {
      await goWithin(page, path)
      expect([path, await page.getByRole('alert').count()]).toEqual([path, 0])
      trouble.push(...(await page.evaluate(findMixed)).map((html) => `${path} mixes directions: ${html}`))
      if ((await page.evaluate(findOverflow)) > 0) trouble.push(`${path} is too wide`)
    }
    expect(trouble).toEqual([])
  })
})

describeBrowser('the dashboard of an empty node', () => {
  test('explains on each page that there is no content yet, and what will appear on the page', async () => {
    const { api, open, openSignedIn, createUser } = await visit()
    await api.deleteSkill({ name: 'alice/pdf' })
    const guest = await open('/')
    for (const path of ['/packs', '/trending', '/agents', '/users', '/requests', '/external']) {
      await goWithin(guest, path)
      await guest.locator('.empty').waitFor()
      expect([path, await guest.locator('.empty').textContent()]).toEqual([path, expect.stringMatching(/\w.*\./)])
      expect([path, await guest.getByRole('alert').count()]).toEqual([path, 0])
    }
    const page = await openSignedIn('/account', { key: await createUser('bob') })
    for (const path of ['/account/skills', '/account/stars', '/users/bob']) {
      await goWithin(page, path)
      await page.locator('.empty').waitFor()
      expect([path, await page.getByRole('alert').count()]).toEqual([path, 0])
    }
  })
})

const texts = {
  arabic: 'يقرأ الملفات ويحولها إلى نص عربي (1.0)!',
  hebrew: 'קורא קבצים ומתרגם אותם (2.0)?',
  chinese: '把扫描的文件变成可以搜索的文本。',
  combining: `Z${'\u0351\u036e\u0321\u0334'.repeat(20)}algo`,
  override: 'safe \u202egnp.exe\u202c \u2067turned\u2069 \u202eand never closed',
  emoji: '👩🏽‍💻🏳️‍🌈🫠👨‍👩‍👧‍👦'.repeat(3),
  thai: 'แปลงไฟล์เป็นข้อความ'.repeat(4),
  long: 'Donaudampfschifffahrtsgesellschaft'.repeat(6),
}
const all = Object.values(texts).join(' ')

/** Creates a skill with texts in many languages; returns its address. */
async function fillWithScripts({ registry, api, createUser, get }: Visit): Promise<{ skill: string; bobsKey: string }> {
  const bobsKey = await createUser('bob')
  const bob = localApi(registry, await registry.getCaller('bob'))
  const name = 'n'.repeat(64)
  const toMd = (body: string) => `---\nname: ${name}\ndescription: ${texts.arabic}\n---\n# ${texts.hebrew}\n\n${body}\n`
  const files = [{ path: `${'f'.repeat(60)}/ملف-文件-קובץ.md`, content: all }]
  await bob.publishSkill({ skillMd: toMd(all), version: '1.0.0', files, changelog: all })
  await bob.publishSkill({ skillMd: toMd(texts.override), version: '1.0.1', files, changelog: texts.override })
  await bob.publishSkill({
    name: `bob/${name}`,
    displayName: texts.arabic,
    description: all,
    keywords: ['文件', 'ملف'],
  })
  await bob.updateMe({ displayName: `${texts.hebrew} ${texts.override}` })
  await api.createReview({ name: `bob/${name}`, rating: 4, title: texts.override, body: all })
  await api.createIssue({ name: `bob/${name}`, type: 'bug', title: texts.long.slice(0, 190), body: all })
  const skills = [{ name: `bob/${name}`, note: texts.override }]
  await bob.createPack({ slug: 'scripts', name: texts.override, description: all, skills })
  await bob.createRequest({ title: texts.arabic, description: all })
  await get('/agents', json({ agentKey: 'cli:one', displayName: texts.override, platformId: 'cli' }))
  return { skill: `bob/${name}`, bobsKey }
}

/** Runs in the page: finds texts whose direction could change the order of adjacent texts. */
function findMixed(): string[] {
  const mixed: string[] = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent!.trim()
    if (!/[\u0590-\u08ff\u202a-\u202e\u2066-\u2069]/.test(text)) continue
    const parent = node.parentElement!
    if (!parent.closest('bdi, [dir=auto], pre, option')) mixed.push(parent.outerHTML.slice(0, 200))
  }
  return mixed
}

/** Runs in the page: the number of pixels by which the page is wider than the window. */
function findOverflow(): number {
  return Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)
}

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

async function retryAll(page: Page): Promise<void> {
  const button = page.getByRole('alert').getByRole('button', { name: 'Try again' })
  while ((await button.count()) > 0) {
    const before = await button.count()
    await button.first().click()
    await expect.poll(() => button.count()).toBeLessThan(before)
  }
}

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { findBarriers } from '../support/axe-barriers.ts'
import {
  describeBrowser,
  goWithin,
  measureShift,
  picturesFolder,
  takePictures,
  takesPictures,
  visit,
} from '../support/browser-harness.ts'
import { settle } from '../support/browser-windows.ts'
import { fillShowcase } from '../support/showcase.ts'

const skill = '/skills/alice/fill-pdf-forms'

/** Each public page with the name of its pictures. */
const publicPages: Readonly<Record<string, string>> = {
  home: '/',
  search: '/?q=forms',
  'nothing-found': '/?q=submarine',
  skill,
  'skill-install': `${skill}/install`,
  'skill-files': `${skill}/files`,
  'skill-file': `${skill}/files?path=scripts%2Ffields.py`,
  'skill-versions': `${skill}/versions`,
  'skill-difference': `${skill}/versions?from=1.0.0&to=1.1.0`,
  'skill-security': '/skills/carol/install-tools/security',
  'skill-provenance': `${skill}/provenance`,
  'skill-similar': `${skill}/similar`,
  'skill-reviews': `${skill}/reviews`,
  'skill-issues': `${skill}/issues`,
  packs: '/packs',
  pack: '/packs/office',
  trending: '/trending',
  authors: '/users',
  author: '/users/alice',
  'author-organisation': '/users/acme',
  agents: '/agents',
  agent: '/agents/claude-code:1',
  requests: '/requests',
  external: '/external',
  takedowns: '/takedowns',
  'sign-in': '/account/sign-in',
  components: '/_components',
  nowhere: '/nowhere',
}

/** Their texts are long, so that they take the time of many others. */
const docsPages: Readonly<Record<string, string>> = {
  docs: '/docs',
  'docs-guide': '/docs/deploy',
  'docs-figures': '/docs/figures',
  'docs-api': '/docs/api',
  'docs-endpoint': '/docs/api/publishSkill',
  'docs-search': '/docs?q=proxy',
}

const privatePages: Readonly<Record<string, string>> = {
  account: '/account',
  'own-skills': '/account/skills',
  publish: '/account/publish',
  reviews: '/account/reviews',
  organisation: '/organisations/acme',
  'organisation-teams': '/organisations/acme/teams',
  'organisation-skills': '/organisations/acme/skills',
  'organisation-rules': '/organisations/acme/rules',
  'organisation-ci': '/organisations/acme/ci',
  'organisation-settings': '/organisations/acme/settings',
  keys: '/account/keys',
  'account-ci': '/account/ci',
  sessions: '/account/sessions',
  webhooks: '/account/webhooks',
  stars: '/account/stars',
  manage: `${skill}/manage`,
  admin: '/admin',
  'admin-users': '/admin/users',
  'admin-user-access': '/admin/users/alice',
  'admin-reports': '/admin/reports',
  'admin-quarantine': '/admin/quarantine',
  'admin-mirrors': '/admin/mirrors',
  'admin-outbox': '/admin/outbox',
  'admin-audit': '/admin/audit',
  'admin-storage': '/admin/storage',
}

const widths = [320, 390, 768, 1280]
const shiftMax = 0.02

describeBrowser('every page', () => {
  beforeAll(() => {
    if (takesPictures) rmSync(picturesFolder, { recursive: true, force: true })
  })

  test('of the documentation fits each width, and has no accessibility barrier and no layout shift', async () => {
    const visited = await visit()
    const page = await visited.open('/', { isOwn: true })
    expect(await findFaults(page, visited.node.url, docsPages)).toEqual([])
  })

  test('fits each width without scrolling sideways, and has no accessibility barrier and no layout shift', async () => {
    const visited = await visit()
    const { submissionId } = await fillShowcase(visited)
    const guest = await visited.open('/', { isOwn: true, expectedStatuses: [404] })
    const faults = await findFaults(guest, visited.node.url, publicPages)
    const admin = await visited.openSignedIn('/', { isOwn: true, expectedStatuses: [404] })
    faults.push(
      ...(await findFaults(admin, visited.node.url, { ...privatePages, review: `/account/reviews/${submissionId}` })),
    )
    if (takesPictures) {
      await makeContactSheet(guest)
      await paintReadme(guest, visited.node.url)
    }
    expect(faults).toEqual([])
  }, 300_000)
})

async function findFaults(page: Page, origin: string, pages: Readonly<Record<string, string>>): Promise<string[]> {
  const faults: string[] = []
  for (const [name, path] of Object.entries(pages)) {
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(origin + path)
      await settle(page)
      const shift = await measureShift(page)
      if (shift > shiftMax) faults.push(`${name} at ${width} px: its layout shifts by ${shift.toFixed(3)}`)
    }
    for (const width of widths) {
      await page.setViewportSize({ width, height: width < 700 ? 800 : 900 })
      await goWithin(page, path)
      faults.push(...(await readOverflow(page)).map((element) => `${name} at ${width} px: ${element} is too wide`))
      faults.push(...(await findBarriers(page)).map((barrier) => `${name} at ${width} px: ${barrier}`))
      if (width === 390 || width === 1280) await takePictures(page, `${name}-${width}`)
    }
  }
  return faults
}

/** The elements that reach beyond the window, if the page can be scrolled sideways. */
function readOverflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth <= clientWidth) return []
    const wide = [...document.querySelectorAll('body *')].filter(
      (element) => element.getBoundingClientRect().right > clientWidth + 1,
    )
    return wide.slice(-3).map((element) => `${element.tagName} ${element.className}`)
  })
}

/** One page with all pictures: light and dark, desktop and phone. */
async function makeContactSheet(page: Page): Promise<void> {
  const rows = Object.keys({ ...publicPages, ...docsPages, ...privatePages }).map((name) => {
    const cells = [1280, 390].flatMap((width) => ['light', 'dark'].map((scheme) => `${name}-${width}-${scheme}.png`))
    return `<h2>${name}</h2><div>${cells.map((file) => `<img src="${file}" alt="${file}">`).join('')}</div>`
  })
  const style =
    'div{display:flex;gap:8px;align-items:start}img{width:24%;max-height:700px;object-fit:cover;object-position:top;border:1px solid gray}'
  writeFileSync(join(picturesFolder, 'index.html'), `<!doctype html><style>${style}</style>${rows.join('')}`)
  const sheet = await page
    .context()
    .browser()!
    .newPage({ viewport: { width: 1600, height: 900 } })
  await sheet.goto(`file://${join(picturesFolder, 'index.html')}`)
  await sheet.screenshot({ path: join(picturesFolder, 'index.png'), fullPage: true })
  await sheet.close()
}

/** The pictures of README: the skill's page in both schemes. */
async function paintReadme(page: Page, origin: string): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 860 })
  await page.goto(origin + skill)
  await page.locator('.code-keyword').first().waitFor()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: join(import.meta.dirname, `../../docs/images/skill-${colorScheme}.png`) })
  }
}

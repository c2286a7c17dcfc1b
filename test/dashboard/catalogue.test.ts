import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { systemClock } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { expect, test } from 'vitest'
import { findBarriers } from '../support/axe-barriers.ts'
import { describeBrowser, goWithin, takePicture, takePictures, visit, type Visit } from '../support/browser-harness.ts'
import { toChildEnvironment } from '../support/child-environment.ts'
import { mainFile, makeFolder } from '../support/cli-harness.ts'
import { createSearchPace } from '../../packages/dashboard/src/pages/catalogue/search-pace.ts'
import { json } from '../support/server-harness.ts'

const dayMs = 24 * 60 * 60 * 1000
const phone = { width: 360, height: 740 }

/** Runs a command of a page as its reader pastes it. Throws if the command fails. */
async function runInShell(command: string, { folder, input }: { folder: string; input: string }): Promise<void> {
  const definition = `skillstead() { "$NODE" --conditions=source "$MAIN" "$@"; }`
  const env = { ...toChildEnvironment(), NODE: process.execPath, MAIN: mainFile, XDG_CONFIG_HOME: join(folder, 'own') }
  const running = promisify(execFile)('sh', ['-ec', `${definition}\n${command}`], { cwd: folder, env })
  running.child.stdin!.end(`${input}\n`)
  await running
}

describeBrowser('the catalogue page', () => {
  test('searches while the user types, stores the query in the address, and sends few requests', async () => {
    const { node, open } = await visitCatalogue()
    const page = await open('/', { isOwn: true })
    // The heading may appear before the first request.
    await page.getByRole('link', { name: 'alice/pdf', exact: true }).first().waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url().slice(node.url.length)))
    const box = page.getByRole('combobox', { name: 'Search skills' })
    await box.pressSequentially('spreadsh')
    await expect.poll(() => page.url()).toContain('?q=spreadsh')
    await page.getByRole('status').getByText('1 skill matches').waitFor()
    await expect.poll(() => page.locator('.skills mark').allTextContents()).toContain('spreadsheets')
    await box.fill('')
    await page.getByRole('link', { name: 'alice/pdf', exact: true }).first().waitFor()
    const searches = asked.filter((path) => path.startsWith('/api/v1/skills'))
    // One search per pause: earlier results are cached, so that deleting the text sends no request.
    expect(new Set(searches).size).toBe(searches.length)
    expect(searches).not.toContain('/api/v1/skills?q=&page=1&explain=false')
    await page.goBack()
    expect(page.url()).toBe('about:blank')
  })

  test('sends at most 24 requests per minute, even if the user types a character every 250 ms', () => {
    const pace = createSearchPace()
    const searchedAtMs: number[] = []
    for (let nowMs = 0; nowMs < 60_000; nowMs += 250) {
      if (pace.pauseAt(nowMs) >= 250) continue
      pace.spend(nowMs)
      searchedAtMs.push(nowMs)
    }
    expect(searchedAtMs.filter((ms) => ms < 3000)).toHaveLength(12)
    expect(searchedAtMs.length).toBeLessThanOrEqual(24)
  })

  test('shows the sentence of the instructions that answers the query, with the matching words highlighted', async () => {
    const { api, open } = await visit()
    const body = 'Store each `<b>event</b>` id, so that **customers** are not charged &amp; again.\n'
    await api.publishSkill({ skillMd: `---\nname: hooks\ndescription: Handles hooks.\n---\n${body}` })
    const page = await open('/?q=shop+customers+are+charged+twice')
    const passage = page.locator('.skills .passage')
    await passage.waitFor()
    await expect
      .poll(() => passage.textContent())
      .toBe('Store each event id, so that customers are not charged &amp; again.')
    await expect.poll(() => passage.locator('mark').allTextContents()).toEqual(['customers', 'charged'])
    expect(await findBarriers(page)).toEqual([])
    await takePictures(page, 'search-passage')
  })

  test('states that words of a costly search were ignored, and shows no such message for other searches', async () => {
    const { api, open } = await visit()
    const numbers = Array.from({ length: 130 }, (_, i) => String(i + 100))
    const body = `Counts ${numbers.join(' ')}.\n`
    await api.publishSkill({ skillMd: `---\nname: counter\ndescription: Counts.\n---\n${body}` })
    const note = 'Common words, or some of the skills with them, were left out to answer quickly'
    const page = await open(`/?q=${numbers.join('+')}`)
    await page.getByRole('link', { name: 'alice/counter' }).waitFor()
    await expect.poll(() => page.getByText(note).count()).toBe(1)
    await page.getByLabel('Search skills').fill(numbers.slice(0, 3).join(' '))
    await expect.poll(() => page.getByText(note).count()).toBe(0)
    await page.getByRole('link', { name: 'alice/counter' }).waitFor()
  })

  test('highlights matches in scripts without spaces, and matches of other forms of a word', async () => {
    const { open } = await visitCatalogue()
    const page = await open('/?q=%E5%A4%84%E7%90%86')
    const marks = page.locator('.skills mark')
    await marks.first().waitFor()
    await expect.poll(() => marks.allTextContents()).toEqual(['处理'])
    await page.getByLabel('Search skills').fill('planning')
    await page.getByRole('link', { name: 'alice/sprints' }).waitFor()
    await expect.poll(() => marks.allTextContents()).toEqual(['Plans'])
    // Clearing a search without results shows the first page, not that of an empty node.
    await page.getByLabel('Search skills').fill('qqqq')
    await page.getByRole('heading', { name: 'Nothing matches “qqqq”' }).waitFor()
    await page.getByRole('button', { name: 'Clear search' }).click()
    await page.getByRole('link', { name: 'alice/sprints' }).first().waitFor()
    await expect.poll(() => page.getByLabel('Search skills').inputValue()).toBe('')
  })

  test('suggests completions of the query, which the user can choose with the keyboard', async () => {
    const { open } = await visitCatalogue()
    const page = await open('/')
    const box = page.getByRole('combobox', { name: 'Search skills' })
    await box.pressSequentially('sp')
    const options = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option')
    await options.first().waitFor()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => options.first().getAttribute('aria-selected')).toBe('true')
    await expect.poll(() => box.getAttribute('aria-activedescendant')).toBe(await options.first().getAttribute('id'))
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'catalogue-suggestions')
    await page.keyboard.press('Escape')
    await options.first().waitFor({ state: 'hidden' })
    await expect.poll(() => box.inputValue()).toBe('sp')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    const chosen = await options.first().textContent()
    await page.keyboard.press('Enter')
    await expect.poll(() => box.inputValue()).toBe(chosen)
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe(chosen)
    await page.keyboard.press('Escape')
    await expect.poll(() => new URL(page.url()).search).toBe('')
  })

  test('keeps the filters in the address of the page, and shows a link that removes each filter', async () => {
    const { open } = await visitCatalogue()
    const page = await open('/')
    await page.getByRole('link', { name: 'documents 2' }).click()
    await page.getByRole('status').getByText('2 skills').waitFor()
    await page.getByRole('group', { name: 'Licence' }).getByRole('link', { name: 'mit' }).click()
    await page.getByLabel('Sort by').selectOption('recent')
    await expect.poll(() => new URL(page.url()).search).toBe('?category=documents&license=mit&sort=recent')
    await page.getByRole('status').getByText('1 skill', { exact: true }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePictures(page, 'catalogue-filters')
    await page.getByRole('link', { name: 'Remove filter Category: documents' }).click()
    await page.getByRole('link', { name: 'Remove filter Licence: mit' }).click()
    await expect.poll(() => new URL(page.url()).search).toBe('?sort=recent')
    const chosen = page.getByRole('group', { name: 'Licence' }).locator('[aria-current]')
    await expect.poll(() => chosen.count()).toBe(0)
    await page.goBack()
    await page.getByRole('link', { name: 'Remove filter Licence: mit' }).waitFor()
    await expect.poll(() => chosen.textContent()).toBe('mit 2')
    await page.locator('.skills h2 a').first().focus()
    await page.keyboard.press('ArrowDown')
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.closest('.skills li:nth-child(2)') !== null))
      .toBe(true)
  })

  test('shows how many skills each agent loads, and filters skills by agent', async () => {
    const { api, open } = await visitCatalogue()
    const skillMd = '---\nname: hooked\ndescription: Formats XML\nhooks: none\n---\n# Hooked\n'
    await api.publishSkill({ skillMd })
    const page = await open('/?q=xml')
    const control = page.getByLabel('Works in')
    await control.getByText('Claude Code (2)', { exact: true }).waitFor({ state: 'attached' })
    await control.getByText('the validator of agentskills.io (1)', { exact: true }).waitFor({ state: 'attached' })
    await control.selectOption('agentskills')
    await expect.poll(() => new URL(page.url()).search).toBe('?q=xml&client=agentskills')
    await page.getByRole('status').getByText('1 skill matches').waitFor()
    await page.getByRole('link', { name: 'Remove filter Works in the validator of agentskills.io' }).click()
    await page.getByRole('status').getByText('2 skills match').waitFor()
  })

  test('opens without an error if its URL has invalid query parameters', async () => {
    const { open } = await visitCatalogue()
    const page = await open('/?sort=worst&minSecurityScore=lots&verified=perhaps&page=0&q=%F0%9F')
    await page.getByRole('heading', { name: /Nothing matches/ }).waitFor()
    await page.goto(`${new URL(page.url()).origin}/?sort=worst&minSecurityScore=lots&client=emacs&page=99`)
    await page.getByRole('link', { name: 'Go to the first page' }).click()
    await page.getByRole('link', { name: 'alice/pdf', exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.has('page')).toBe(false)
  })

  test('suggests removing filters, or requesting the skill, if a search finds nothing', async () => {
    const { open } = await visitCatalogue()
    const page = await open('/?q=pdf&category=markup')
    await page.getByText('to see 1 skill').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'catalogue-nothing')
    await page.getByRole('link', { name: 'Remove all filters' }).click()
    await page.getByRole('link', { name: 'alice/pdf', exact: true }).waitFor()
    await page.getByLabel('Search skills').fill('translate whale song')
    await page.getByRole('link', { name: 'Ask for this skill' }).click()
    await expect.poll(() => page.getByLabel('Title').inputValue()).toBe('translate whale song')
  })

  test('finds skills, pages and actions from every page by the keyboard', async () => {
    const { open } = await visitCatalogue()
    const page = await open('/packs', { isOwn: true })
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Search' })
    const box = palette.getByRole('combobox')
    await box.fill('spreadsheet')
    await palette.getByRole('option', { name: 'alice/csv' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePictures(page, 'palette')
    // What another search found is not chosen, however fast the user is.
    await box.fill('sign')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/?q=sign')
    await page.keyboard.press('Control+k')
    await box.fill('spreadsheet')
    await palette.getByRole('option', { name: 'alice/csv' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/skills/alice/csv')
    await palette.waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1, name: 'alice/csv' }).waitFor()
    // The slash opens it where the page has no search field of its own, and is a letter in a field.
    await page.keyboard.press('/')
    await palette.getByRole('option', { name: 'alice/csv' }).waitFor()
    await box.pressSequentially('a/b')
    await expect.poll(() => box.inputValue()).toBe('a/b')
    await box.fill('trend')
    await palette.getByRole('option', { name: 'Trending' }).click()
    await page.waitForURL('**/trending')
    await page.getByRole('button', { name: 'Search skills' }).click()
    await box.waitFor()
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Skillstead' }).click()
    await page.waitForURL((url) => url.pathname === '/')
    await page.keyboard.press('/')
    const own = page.getByRole('main').getByRole('combobox')
    await expect.poll(() => own.evaluate((field) => field === document.activeElement)).toBe(true)
  })

  test('offers no sign-in to a signed-in user, and stays the start page if its URL has unknown parameters', async () => {
    const visited = await visitCatalogue()
    const page = await visited.open('/?utm_source=news&fbclid=1')
    await page.getByRole('heading', { level: 1, name: 'Find a skill for your agent' }).waitFor()
    const heading = (await page.getByRole('heading', { level: 1 }).boundingBox())!
    const search = (await page.getByRole('main').getByRole('combobox').boundingBox())!
    const middle = ({ x, width }: typeof heading) => x + width / 2
    expect(Math.abs(middle(heading) - middle(search))).toBeLessThan(60)
    const options = page.getByRole('dialog').getByRole('option')
    await page.keyboard.press('Control+k')
    await options.getByText('API reference').waitFor()
    await expect.poll(() => options.getByText('Sign in').count()).toBe(1)
    const own = await visited.openSignedIn('/packs')
    await own.getByRole('button', { name: 'Menu of alice' }).waitFor()
    await own.keyboard.press('Control+k')
    const choices = own.getByRole('dialog').getByRole('option')
    await choices.getByText('Operate this node').waitFor()
    await expect.poll(() => choices.getByText('Sign in').count()).toBe(0)
    await goWithin(own, '/?category=documents')
    await own.getByText('Other keyword').waitFor()
  })

  test('explains how to publish the first skill if there are no skills', async () => {
    const { api, open, node, key } = await visit()
    await api.deleteSkill({ name: 'alice/pdf' })
    const page = await open('/')
    await page.getByRole('heading', { name: 'No skills here yet' }).waitFor()
    await expect
      .poll(() => page.getByRole('link', { name: 'Publish one here' }).getAttribute('href'))
      .toBe('/account/publish')
    const commands = await page.locator('.first-steps pre').allTextContents()
    expect(commands.at(-1)).toBe(`claude mcp add --transport http skillstead ${node.url}/mcp`)
    const folder = await makeFolder()
    await mkdir(join(folder, 'skills/notes'), { recursive: true })
    await writeFile(
      join(folder, 'skills/notes/SKILL.md'),
      '---\nname: notes\ndescription: Writes notes.\n---\nWrite.\n',
    )
    for (const command of commands.slice(0, -1)) await runInShell(command, { folder, input: key })
    const { skills } = await api.searchSkills({ sort: 'recent' })
    expect(skills.map(({ name }) => name).toSorted()).toEqual(['my-skill', 'notes'])
    expect(await findBarriers(page)).toEqual([])
    await takePictures(page, 'catalogue-empty')
  })

  test('fits the width of a phone, however long the names of skills are', async () => {
    const { open } = await visitCatalogue()
    const page = await open('/?sort=downloads', { viewport: phone })
    await page.getByRole('link', { name: `alice/${'a'.repeat(64)}` }).waitFor()
    expect(await isWithin(page)).toBe(true)
    await page.getByText('Filters').click()
    await page.getByRole('group', { name: 'Owner' }).waitFor()
    expect(await isWithin(page)).toBe(true)
    await takePicture(page, 'catalogue-phone')
  })

  test('retries automatically after too many requests, and explains what to do if the node is unavailable', async () => {
    const { open } = await visitCatalogue()
    // A request without a response has no status.
    const page = await open('/?sort=downloads', { expectedStatuses: [429, Number.NaN], isOwn: true })
    await page.clock.install()
    let isLimited = true
    await page.route('**/api/v1/skills?**', (route) => {
      if (!isLimited) return route.abort()
      isLimited = false
      const problem = { code: 'rate_limited', detail: 'Too many requests; try again in 10 s.' }
      return route.fulfill({ status: 429, headers: { 'retry-after': '10' }, body: JSON.stringify(problem) })
    })
    const alert = page.getByRole('alert')
    await page.getByLabel('Sort by').selectOption('recent')
    await alert.getByText('try again in 10 s. The page then continues automatically.').waitFor()
    await page.clock.fastForward(10_000)
    await alert.getByText('The node does not respond').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.unroute('**/api/v1/skills?**')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'alice/pdf', exact: true }).waitFor()
  })
})

describeBrowser('the trending page', () => {
  test('ranks skills by installs in the chosen period, and shows their downloads per day', async () => {
    let nowMs = Date.now() - 8 * dayMs
    const { open, get, registry } = await visitCatalogue({ clock: { ...systemClock, now: () => nowMs } })
    const install = async (...skillNames: string[]) => {
      for (const skillName of skillNames) await get('/track', json({ skillName }))
      await partsOf(registry).telemetry.flush()
    }
    await install('alice/csv', 'alice/pdf', 'alice/pdf', 'alice/pdf')
    nowMs += 8 * dayMs
    await install('alice/csv', 'alice/csv', 'alice/pdf', 'alice/sprints')
    const page = await open('/trending')
    const first = page.getByRole('main').getByRole('listitem').first()
    await first.getByRole('link', { name: 'alice/csv' }).waitFor()
    await first.getByText('2 installs').waitFor()
    await first.getByText('Downloads by day').click()
    await first.getByText('3 downloads in 30 days').waitFor()
    await first.locator('canvas').waitFor()
    const growths = page.getByText(/ more$| less$|^new in/)
    expect((await growths.allTextContents()).toSorted()).toEqual(['100 % more', '67 % less', 'new in this period'])
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.reload()
    await first.getByText('Downloads by day').click()
    await first.locator('canvas').waitFor()
    await takePicture(page, 'trending-days-dark')
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('link', { name: 'Month' }).click()
    await expect.poll(() => new URL(page.url()).search).toBe('?period=month')
    await page.getByLabel('Category').selectOption('markup')
    await page.getByRole('heading', { name: 'No installs in the last 30 days' }).waitFor()
    await page.getByLabel('Category').selectOption('')
    await page.getByRole('main').getByRole('link', { name: 'alice/csv' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePictures(page, 'trending')
    await page.setViewportSize(phone)
    expect(await isWithin(page)).toBe(true)
    await takePicture(page, 'trending-phone')
  })
})

function isWithin(page: Awaited<ReturnType<Visit['open']>>): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth)
}

/** A node with skills of two categories, one with a long name and one in other scripts. */
async function visitCatalogue(opening: Parameters<typeof visit>[2] = {}): Promise<Visit> {
  const fixture = await visit({}, undefined, opening)
  const skills = [
    { name: 'csv', description: 'Turns spreadsheets into tables', category: 'documents', license: 'MIT' },
    { name: 'sprints', description: 'Plans a sprint', category: 'documents', license: 'Apache-2.0' },
    { name: 'xml', description: 'يقرأ ملفات XML ويحولها 数据处理', category: 'markup', license: 'MIT' },
    { name: 'a'.repeat(64), description: 'w'.repeat(300), category: '', license: '' },
  ]
  for (const { name, ...metadata } of skills) {
    const skillMd = `---\nname: ${name}\ndescription: ${metadata.description}\n---\n# ${name}\n`
    await fixture.api.publishSkill({ skillMd, ...metadata })
  }
  return fixture
}

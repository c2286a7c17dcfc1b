import { createClient } from '@skillstead/client'
import type { RegistryOptions } from '@skillstead/core'
import type { Browser } from 'playwright-core'
import { buildDashboard } from '../../packages/dashboard/building/build.ts'
import { chromiumPath, launchChromium } from '../support/chromium.ts'
import { firstPageBytesMax, readFirstPageScripts } from '../support/first-page.ts'
import { startNode } from './children.ts'
import type { Figure } from './figures.ts'
import { median } from './statistics.ts'

const visits = 10
const paintMsMax = 1000

/** When Chromium, which has seen nothing of it before, paints pages of a node with so many skills. */
export async function benchDashboard(location: RegistryOptions, skills: number): Promise<Figure[]> {
  if (!chromiumPath) throw new Error('There is no Chromium here, so the dashboard is not measured.')
  await buildDashboard()
  const node = await startNode(location)
  await node.vitals('warm')
  const browser = await launchChromium()
  try {
    const home = { url: `${node.url}/`, filled: 'main li a[href^="/skills/"]' }
    // The first window takes longer whatever it shows.
    await visit(browser, home)
    const first = await visitOften(browser, home)
    const { skills: listed } = await createClient({ baseUrl: node.url }).searchSkills({ limit: 1 })
    const skill = await visitOften(browser, {
      url: `${node.url}/skills/${listed[0]!.fullName}`,
      filled: '.markdown > div > *',
    })
    const scripts = [...readFirstPageScripts().values()].reduce((sum, bytes) => sum + bytes, 0)
    const rows = [
      { name: 'the home page: first contentful paint', unit: 'ms', value: first.paintedMs, most: paintMsMax },
      { name: 'the home page: its skills are there', unit: 'ms', value: first.filledMs },
      { name: 'a skill: first contentful paint', unit: 'ms', value: skill.paintedMs, most: paintMsMax },
      { name: 'a skill: its document is there', unit: 'ms', value: skill.filledMs },
      {
        name: 'scripts of the first page, compressed',
        unit: 'kB',
        value: scripts / 1000,
        most: firstPageBytesMax / 1000,
      },
    ]
    const part = `The dashboard of a node with ${skills.toLocaleString('en')} skills, ${visits} cold visits`
    return rows.map((row) => ({ part, ...row }))
  } finally {
    await browser.close()
    await node.stop()
  }
}

interface PageToVisit {
  readonly url: string
  /** The selector of what the page has once its data are there. */
  readonly filled: string
}

async function visitOften(browser: Browser, page: PageToVisit) {
  const seen: Awaited<ReturnType<typeof visit>>[] = []
  for (let i = 0; i < visits; i++) seen.push(await visit(browser, page))
  return {
    paintedMs: median(seen.map(({ paintedMs }) => paintedMs)),
    filledMs: median(seen.map(({ filledMs }) => filledMs)),
  }
}

/** In a context of its own, which has nothing of other visits in its cache. */
async function visit(browser: Browser, { url, filled }: PageToVisit) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(url)
  await page.locator(filled).first().waitFor()
  const figures = await page.evaluate(() => ({
    paintedMs: performance.getEntriesByName('first-contentful-paint')[0]!.startTime,
    filledMs: performance.now(),
  }))
  await context.close()
  return figures
}

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Registry, systemCaller } from '@skillstead/core'
import { importVersions, partsOf } from '@skillstead/core/internal'
import type { Browser } from 'playwright-core'
import { buildDashboard } from '../../packages/dashboard/building/build.ts'
import { chromiumPath, launchChromium } from '../support/chromium.ts'
import { firstPageBytesMax, readFirstPageScripts } from '../support/first-page.ts'
import { startNode } from './children.ts'
import { printFigures, type Figure } from './figures.ts'
import { makeScratch } from './scratch.ts'
import { median } from './statistics.ts'
import { openRegistry } from '../support/open-registry.ts'

const skillsEach = 100
const importedAtOnce = 200
const visits = 10
const paintMsMax = 1000

/** Prints when Chromium, which has seen nothing of it before, paints pages of a node with so many skills. */
export async function benchDashboard(skills = 50_000): Promise<Figure[]> {
  if (!chromiumPath) throw new Error('There is no Chromium here, so the dashboard is not measured.')
  await buildDashboard()
  const folder = makeScratch('dashboard')
  const place = { path: join(folder, 'skillstead.db') }
  try {
    const registry = await openRegistry({ ...place, works: false, memorySkillsMax: 0 })
    await fill(registry, skills)
    await registry.close()
    return await measure(place, skills)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function measure(place: { path: string }, skills: number): Promise<Figure[]> {
  const node = await startNode(place)
  await node.vitals('warm')
  const browser = await launchChromium()
  try {
    // The first window takes longer whatever it shows.
    await visit(browser, `${node.url}/`)
    const first = await visitOften(browser, `${node.url}/`)
    const skill = await visitOften(browser, `${node.url}/skills/author-0/skill-7`)
    const scripts = [...readFirstPageScripts().values()].reduce((sum, bytes) => sum + bytes, 0)
    const rows = [
      { name: 'the catalogue: first contentful paint', unit: 'ms', value: first.paintedMs, most: paintMsMax },
      { name: 'the catalogue: its skills are there', unit: 'ms', value: first.filledMs },
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
    const figures = rows.map((row) => ({ part, ...row }))
    printFigures(figures)
    return figures
  } finally {
    await browser.close()
    await node.stop()
  }
}

async function visitOften(browser: Browser, url: string) {
  const seen: Awaited<ReturnType<typeof visit>>[] = []
  for (let i = 0; i < visits; i++) seen.push(await visit(browser, url))
  return {
    paintedMs: median(seen.map(({ paintedMs }) => paintedMs)),
    filledMs: median(seen.map(({ filledMs }) => filledMs)),
  }
}

/** In a context of its own, which has nothing of other visits in its cache. */
async function visit(browser: Browser, url: string) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(url)
  await page.locator('.skills > li, .markdown > div > *').first().waitFor()
  const figures = await page.evaluate(() => ({
    paintedMs: performance.getEntriesByName('first-contentful-paint')[0]!.startTime,
    filledMs: performance.now(),
  }))
  await context.close()
  return figures
}

const subjects = [
  'tables',
  'invoices',
  'releases',
  'tests',
  'letters',
  'pictures',
  'logs',
  'maps',
  'budgets',
  'tickets',
]
const acts = ['Sorts', 'Checks', 'Explains', 'Translates', 'Plans', 'Compares', 'Draws', 'Shortens', 'Counts']
const ways = ['by hand', 'in one step', 'as the team does', 'before a release', 'for beginners', 'with care', 'weekly']

async function fill(registry: Registry, skills: number): Promise<void> {
  for (let start = 0; start < skills; start += importedAtOnce) {
    const numbers = Array.from({ length: Math.min(importedAtOnce, skills - start) }, (_, place) => start + place)
    const outcomes = await importVersions(partsOf(registry), numbers.map(toVersion), systemCaller)
    const refused = outcomes.find(({ error }) => error)
    if (refused?.error) throw refused.error
  }
}

function toVersion(number: number) {
  const pick = (from: readonly string[], step: number) => from[Math.floor(number / step) % from.length]!
  const name = `skill-${number}`
  const description = `${pick(acts, 1)} ${pick(subjects, 9)} ${pick(ways, 90)}, number ${number}`
  const steps = Array.from({ length: 12 }, (_, step) => `${step + 1}. ${description}: look at part ${step} of it.`)
  const skillMd = `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n\n${steps.join('\n')}\n`
  return { owner: `author-${Math.floor(number / skillsEach)}`, name, skillMd }
}

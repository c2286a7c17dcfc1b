import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { localApi, systemCaller } from '@skillstead/core'
import { buildDashboard } from '../../packages/dashboard/building/build.ts'
import { chromiumPath } from '../support/chromium.ts'
import { openRegistry } from '../support/open-registry.ts'
import type { Fixture } from '../support/server-harness.ts'
import { fillShowcase } from '../support/showcase.ts'
import { startNode } from './children.ts'
import type { Figure } from './figures.ts'
import { makeScratch } from './scratch.ts'
import { median } from './statistics.ts'

const lighthouse = 'lighthouse@13'
const readmeBytes = 50_000
const shiftMax = 0.02
const interactiveMsMax = 1500
const categories = ['performance', 'accessibility', 'best-practices', 'seo'] as const
const leastPerformance = { desktop: 95, phone: 90 }

type Preset = keyof typeof leastPerformance

interface ShownPage {
  readonly name: string
  readonly path: string
  /** For signed-in users only, so search engines do not see it. */
  readonly isPrivate?: true
  /** Whether it is to be interactive within {@link interactiveMsMax} on a phone. */
  readonly isLong?: true
}

const pages: readonly ShownPage[] = [
  { name: 'home', path: '/' },
  { name: 'search', path: '/?q=forms' },
  { name: 'skill', path: '/skills/alice/fill-pdf-forms' },
  { name: 'long-readme', path: '/skills/alice/long-readme', isLong: true },
  { name: 'account', path: '/account', isPrivate: true },
  { name: 'admin', path: '/admin', isPrivate: true },
]

/** What is read of the report that Lighthouse writes. */
interface Report {
  readonly categories: Readonly<Record<string, { score: number | null; auditRefs: { id: string; weight: number }[] }>>
  readonly audits: Readonly<Record<string, { score: number | null; title: string; numericValue?: number }>>
  readonly runtimeError?: { message: string }
}

export interface LighthouseOptions {
  readonly turns: number
  /** Only pages whose name contains this. Default: all. */
  readonly only?: string
  /** Where the reports are written: `NAME-PRESET-TURN.json`. */
  readonly folder: string
}

/**
 * The scores of pages in Lighthouse, with the median of some turns, and the audits that failed. Lighthouse and its many
 * packages are no dependency of the workspace: npx downloads it.
 */
export async function benchLighthouse({ turns, only = '', folder }: LighthouseOptions): Promise<Figure[]> {
  if (!chromiumPath)
    throw new Error('There is no Chromium here, so Lighthouse cannot run. Debian has it as `chromium`.')
  await buildDashboard()
  mkdirSync(folder, { recursive: true })
  const place = { path: join(makeScratch('lighthouse'), 'skillstead.db') }
  const key = await fill(place)
  const node = await startNode(place)
  try {
    await node.vitals('warm')
    const cookies = join(makeScratch('lighthouse'), 'headers.json')
    writeFileSync(cookies, JSON.stringify({ Cookie: await signIn(node.url, key) }))
    const figures: Figure[] = []
    for (const page of pages.filter(({ name }) => name.includes(only))) {
      for (const preset of ['desktop', 'phone'] as const) {
        const reports: Report[] = []
        for (let turn = 1; turn <= turns; turn++) {
          const file = join(folder, `${page.name}-${preset}-${turn}.json`)
          const headers = page.isPrivate && cookies
          reports.push(await audit({ url: node.url + page.path, preset, file, ...(headers && { headers }) }))
        }
        figures.push(...toFigures(page, preset, reports))
      }
    }
    printTable(figures)
    return figures
  } finally {
    await node.stop()
  }
}

/** The showcase, and a skill whose README is long and has much code; returns the key of an administrator. */
async function fill(place: { path: string }): Promise<string> {
  const registry = await openRegistry({ ...place, works: false })
  const createUser: Fixture['createUser'] = async (username) =>
    (await localApi(registry, systemCaller).createUser({ username, plan: 'enterprise' })).key
  const key = await createUser('alice')
  const api = localApi(registry, await registry.getCaller('alice'))
  await fillShowcase({ api, registry, createUser })
  await api.publishSkill({ skillMd: toLongSkill(), version: '1.0.0' })
  await registry.close()
  return key
}

function toLongSkill(): string {
  const head = '---\nname: long-readme\ndescription: Explains every step of a long task. Use it for long tasks.\n---\n'
  const sections: string[] = ['# Long tasks\n']
  for (let i = 1, bytes = 0; bytes < readmeBytes; i++) {
    const section = toSection(i)
    bytes += section.length
    sections.push(section)
  }
  return head + sections.join('\n')
}

function toSection(i: number): string {
  return `## Step ${i}

Read the rows of table ${i}, compare **each** with the row before, and write down what changed in \`changes-${i}.md\`.

\`\`\`python
def compare_${i}(rows: list[dict[str, str]]) -> list[str]:
    """Returns the names of the columns that changed."""
    changed = [name for name, value in rows[-1].items() if value != rows[0][name]]
    return sorted(changed, key=lambda name: (len(name), name))
\`\`\`

\`\`\`sh
for file in tables/${i}/*.csv; do python scripts/compare.py "$file" --step ${i} >> changes.md; done
\`\`\`

| Sign | Cause | What to do |
|---|---|---|
| No rows | Table ${i} is empty | Ask for the export again |

- [ ] Every row of table ${i} was read
`
}

/** The cookie of a new session, as the page for signing in gets it. */
async function signIn(url: string, key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'x-skillstead-session': '1' }
  const response = await fetch(`${url}/api/v1/session`, { method: 'POST', headers })
  return /^[^;]+/.exec(response.headers.get('set-cookie') ?? '')![0]
}

interface Audit {
  readonly url: string
  readonly preset: Preset
  readonly file: string
  /** A file with headers that are sent with each request. */
  readonly headers?: string
}

async function audit({ url, preset, file, headers }: Audit): Promise<Report> {
  const args = ['--yes', lighthouse, url, '--output=json', `--output-path=${file}`, '--quiet']
  args.push(`--only-categories=${categories.join(',')}`, '--chrome-flags=--headless=new --no-sandbox')
  if (preset === 'desktop') args.push('--preset=desktop')
  if (headers !== undefined) args.push(`--extra-headers=${headers}`)
  await promisify(execFile)('npx', args, { env: { ...process.env, CHROME_PATH: chromiumPath }, maxBuffer: 2 ** 26 })
  if (!existsSync(file)) throw new Error(`Lighthouse wrote no report of ${url}.`)
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report
  if (report.runtimeError) throw new Error(`Lighthouse could not audit ${url}: ${report.runtimeError.message}`)
  return report
}

function toFigures(page: ShownPage, preset: Preset, reports: readonly Report[]): Figure[] {
  const part = `Lighthouse, ${page.name}, ${preset}`
  const middle = (of: (report: Report) => number) => median(reports.map(of))
  const value = (id: string) => middle(({ audits }) => audits[id]?.numericValue ?? NaN)
  const note = `load average ${loadavg()[0]!.toFixed(1)}`
  const isSought = (category: string) => category !== 'seo' || !page.isPrivate
  const scores = categories.filter(isSought).map((category): Figure => {
    const least = category === 'performance' ? leastPerformance[preset] : 100
    const score = Math.round(middle((report) => (report.categories[category]!.score ?? 0) * 100))
    const failed = category === 'performance' ? [] : findFailed(reports.at(-1)!, category)
    return { part, name: category, value: score, unit: '', least, note: failed.join(', ') || note }
  })
  const interactive = page.isLong && preset === 'phone' ? { most: interactiveMsMax } : {}
  return [
    ...scores,
    { part, name: 'layout shift', value: value('cumulative-layout-shift'), unit: '', most: shiftMax },
    { part, name: 'first contentful paint', value: value('first-contentful-paint'), unit: 'ms' },
    { part, name: 'largest contentful paint', value: value('largest-contentful-paint'), unit: 'ms' },
    { part, name: 'total blocking time', value: value('total-blocking-time'), unit: 'ms' },
    { part, name: 'interactive', value: value('interactive'), unit: 'ms', ...interactive },
  ]
}

function findFailed({ categories: all, audits }: Report, category: string): string[] {
  const counted = all[category]!.auditRefs.filter(({ weight }) => weight > 0)
  return counted
    .map(({ id }) => audits[id]!)
    .flatMap(({ score, title }) => (score !== null && score < 1 ? [title] : []))
}

/** One row for each page and preset. */
function printTable(figures: readonly Figure[]): void {
  const rows: Record<string, Record<string, number>> = {}
  for (const { part, name, value } of figures)
    (rows[part.replace('Lighthouse, ', '')] ??= {})[name] = Number(value.toPrecision(3))
  console.table(rows)
}

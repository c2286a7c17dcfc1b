import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, describe, expect, onTestFinished } from 'vitest'
import { buildDashboard } from '../packages/dashboard/building/build.ts'
import { findDashboard } from '../packages/cli/src/dashboard-files.ts'
import { chromiumPath, launchChromium } from './chromium.ts'
import { startNode, type Fixture } from './server-harness.ts'

const pictures = join(import.meta.dirname, '../.screenshots')

/** A node with its dashboard, and a browser that looks at it. */
export interface Visit extends Fixture {
  readonly browser: Browser
  /** Opens an address of the node in a window of its own; resolves when the page has its heading. */
  open(path: string, options?: PageOptions): Promise<Page>
  /** A window in which alice, an administrator, is signed in. */
  openSignedIn(path: string, options?: PageOptions): Promise<Page>
}

interface PageOptions {
  readonly colorScheme?: 'light' | 'dark'
  readonly viewport?: { width: number; height: number }
  /** Answers of the node that the page is meant to cope with: the browser reports those as errors by itself. */
  readonly expectedStatuses?: readonly number[]
  /** The key to sign in with, where it is not alice's. */
  readonly key?: string
}

/** Tests in a real Chromium; skipped by name where there is none. */
export function describeBrowser(name: string, work: () => void): void {
  if (!chromiumPath)
    console.warn(`\nThere is no Chromium here, so "${name}" is SKIPPED. Debian has it as \`chromium\`.\n`)
  describe.skipIf(!chromiumPath)(`${name}${chromiumPath ? '' : ' (skipped: needs chromium)'}`, () => {
    afterAll(async () => {
      await (await launched)?.close()
      launched = undefined
    })
    work()
  })
}

let launched: Promise<Browser> | undefined
let built: Promise<void> | undefined

export async function visit(...starting: Parameters<typeof startNode>): Promise<Visit> {
  await ensureBuilt()
  const [options = {}, ...rest] = starting
  const fixture = await startNode({ ...options, dashboard: findDashboard() }, ...rest)
  const browser = await launch()
  const open = (path: string, given: PageOptions = {}) => openPage(browser, fixture, path, given)
  return {
    ...fixture,
    browser,
    open,
    async openSignedIn(path, given = {}) {
      const page = await open('/account/sign-in', given)
      await page.getByLabel('API key').fill(given.key ?? fixture.key)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: 'Sign out' }).waitFor()
      await page.goto(fixture.node.url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      return page
    },
  }
}

/** The pages are there to be served, by a node in another process too. */
export function ensureBuilt(): Promise<void> {
  built ??= buildDashboard()
  return built
}

function launch(): Promise<Browser> {
  launched ??= launchChromium()
  return launched
}

/** A window on a node that runs elsewhere. */
export async function browse(url: string, path: string, options: PageOptions = {}): Promise<Page> {
  return openPage(await launch(), { node: { url } }, path, options)
}

/** Whatever test opens a page, it leaves the node's origin for nothing and writes no error to the console. */
async function openPage(
  browser: Browser,
  { node }: { node: Pick<Fixture['node'], 'url'> },
  path: string,
  options: PageOptions,
): Promise<Page> {
  const { colorScheme, viewport, expectedStatuses = [] } = options
  const context = await browser.newContext({ colorScheme, viewport: viewport ?? { width: 1280, height: 900 } })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== node.url) complaints.push(`asked elsewhere: ${request.url()}`)
  })
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    const status = Number(/status of (\d+)/.exec(message.text())?.[1])
    if (!expectedStatuses.includes(status)) complaints.push(`console: ${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.stack ?? error.message}`))
  onTestFinished(async () => {
    await context.close()
    expect(complaints).toEqual([])
  })
  await page.goto(node.url + path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page
}

/** What axe finds serious or critical on the page in either scheme: https://github.com/dequelabs/axe-core. */
export async function findBarriers(page: Page): Promise<string[]> {
  // The policy of the page lets nothing be added to it; the tools of the browser may.
  const world = await page.context().newCDPSession(page)
  const { frameTree } = await world.send('Page.getFrameTree')
  const { executionContextId } = await world.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id })
  const run = async (expression: string) => {
    const { result, exceptionDetails } = await world.send('Runtime.evaluate', {
      expression,
      contextId: executionContextId,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value as string
  }
  await run(`${axe.source}; 'here'`)
  const barriers: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const found = await run(`axe.run().then(({ violations }) => JSON.stringify(violations))`)
    barriers.push(...(JSON.parse(found) as axe.Result[]).flatMap((one) => toLines(one, colorScheme)))
  }
  await page.emulateMedia({ colorScheme: null })
  await world.detach()
  return barriers
}

function toLines({ id, impact, nodes }: axe.Result, colorScheme: string): string[] {
  if (impact !== 'serious' && impact !== 'critical') return []
  return nodes.map(({ html, failureSummary = '' }) => `${colorScheme}, ${id}: ${html.slice(0, 160)}: ${failureSummary}`)
}

/** Writes what the page looks like to a folder for looking at. */
export async function takePicture(page: Page, name: string): Promise<void> {
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })
}

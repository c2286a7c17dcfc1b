import type { Browser, Page, Request } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'
import { connectChromium } from './chromium.ts'

export interface WindowOptions {
  readonly viewport?: { width: number; height: number }
  /** Answers of the node that the page is meant to cope with: the browser reports those as errors by itself. */
  readonly expectedStatuses?: readonly number[]
  /** The origin of another site to which the page leads. */
  readonly leadsTo?: string
  /** No other test gets this window before or after: for listeners, clocks, functions and a history of its own. */
  readonly isOwn?: boolean
}

/** A page in a context of its own, which one test at a time has. */
interface Window {
  readonly page: Page
  readonly pending: Set<Request>
  /** The test's expectations; undefined while no test has the window. */
  watch?: Watch | undefined
}

interface Watch {
  readonly origins: readonly (string | undefined)[]
  readonly expectedStatuses: readonly number[]
  readonly complaints: string[]
}

const usualViewport = { width: 1280, height: 900 }
let connected: Promise<Browser> | undefined
/** A context costs several times what a page does that is loaded into an open one. */
const idle: Window[] = []
const windows = new WeakMap<Page, Window>()

/** The dashboard is built once a run, by vitest's main process. */
export async function ensureBuilt(): Promise<void> {
  await askServer('/dashboard')
}

/** A blank page until the end of the test, which leaves the origin for nothing and writes no error to the console. */
export async function takeWindow(origin: string, options: WindowOptions = {}): Promise<Page> {
  const { isOwn = false, viewport = usualViewport, expectedStatuses = [] } = options
  const window = (isOwn ? undefined : idle.pop()) ?? (await createWindow())
  const watch = { origins: [origin, options.leadsTo], expectedStatuses, complaints: [] }
  window.watch = watch
  onTestFinished(async ({ task }) => {
    const isClean = !isOwn && task.result?.state !== 'fail' && (await tidy(window))
    if (isClean) idle.push(window)
    else await window.page.context().close()
    expect(watch.complaints).toEqual([])
  })
  const size = window.page.viewportSize()!
  if (size.width !== viewport.width || size.height !== viewport.height) await window.page.setViewportSize(viewport)
  return window.page
}

/** Resolves when the page has asked for all that it shows and shows it. */
export async function settle(page: Page): Promise<void> {
  const { pending } = windows.get(page)!
  do {
    // What came in is shown, and what that asks for is asked, within so many frames.
    await page.evaluate(async () => {
      for (let frames = 0; frames < 3; frames++) {
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      }
    })
  } while (pending.size > 0 || (await page.locator('.loading, [aria-busy="true"]').count()) > 0)
}

async function createWindow(): Promise<Window> {
  connected ??= askServer('/browser').then(connectChromium)
  const browser = await connected
  const context = await browser.newContext({
    viewport: usualViewport,
    // Otherwise each node compresses the app; server-dashboard.test.ts asserts how it does.
    extraHTTPHeaders: { 'accept-encoding': 'identity' },
  })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const window: Window = { page, pending: new Set() }
  windows.set(page, window)
  page.on('requestfinished', (request) => window.pending.delete(request))
  page.on('requestfailed', (request) => window.pending.delete(request))
  page.on('request', (request) => {
    const { watch, pending } = window
    // Not all requests of a document that is left are reported as failed.
    if (request.isNavigationRequest()) pending.clear()
    pending.add(request)
    if (watch && !watch.origins.includes(new URL(request.url()).origin))
      watch.complaints.push(`asked elsewhere: ${request.url()}`)
  })
  page.on('console', (message) => {
    if (message.type() !== 'error' || !window.watch) return
    const { expectedStatuses, complaints } = window.watch
    const status = Number(/status of (\d+)/.exec(message.text())?.[1])
    if (!expectedStatuses.includes(status)) complaints.push(`console: ${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => window.watch?.complaints.push(`thrown: ${error.stack ?? error.message}`))
  return window
}

/**
 * Leaves nothing of this test for the next: each node has an origin of its own, and cookies are removed. False for a
 * window that does not take part, because it crashed for example.
 */
async function tidy(window: Window): Promise<boolean> {
  const { page } = window
  const context = page.context()
  try {
    // Answered after all that the page complained about so far.
    await page.emulateMedia({ colorScheme: null })
    window.watch = undefined
    for (const other of context.pages()) if (other !== page) await other.close()
    // The page leaves by itself: where the browser is told to, it changes processes.
    await page.evaluate(() => void setTimeout(() => location.replace('about:blank')))
    await page.waitForURL('about:blank')
    await page.unrouteAll()
    await context.setOffline(false)
    await context.clearCookies()
    return true
  } catch {
    return false
  }
}

async function askServer(path: string): Promise<string> {
  const response = await fetch(inject('browserUrl') + path)
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

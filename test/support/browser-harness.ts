import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { describe } from 'vitest'
import { findDashboard } from '../../packages/cli/src/serving/dashboard-files.ts'
import { ensureBuilt, settle, takeWindow, type WindowOptions } from './browser-windows.ts'
import { headlessPath } from './chromium.ts'
import { startNode, type Fixture } from './server-harness.ts'

/** Where pictures of pages are written. */
export const picturesFolder = join(import.meta.dirname, '../../.screenshots')

/** A node with its dashboard, and a browser that looks at it. */
export interface Visit extends Fixture {
  /** Opens an address of the node in a window of its own; resolves when the page has its heading. */
  open(path: string, options?: WindowOptions): Promise<Page>
  /** A window in which alice, an administrator, is signed in; or the user of another key. */
  openSignedIn(path: string, options?: WindowOptions & { readonly key?: string }): Promise<Page>
}

/** Tests in a real Chromium; skipped by name where there is none. */
export function describeBrowser(name: string, work: () => void): void {
  if (!headlessPath)
    console.warn(`\nThere is no Chromium here, so "${name}" is SKIPPED. Debian has it as \`chromium\`.\n`)
  describe.skipIf(!headlessPath)(`${name}${headlessPath ? '' : ' (skipped: needs chromium)'}`, () => {
    work()
  })
}

export async function visit(...starting: Parameters<typeof startNode>): Promise<Visit> {
  await ensureBuilt()
  const [options = {}, ...rest] = starting
  const fixture = await startNode({ ...options, dashboard: findDashboard() }, ...rest)
  const { url } = fixture.node
  return {
    ...fixture,
    open: (path, given) => browse(url, path, given),
    async openSignedIn(path, { key = fixture.key, ...given } = {}) {
      const page = await takeWindow(url, given)
      await signIn(page, url, key)
      return goTo(page, url + path)
    },
  }
}

/** A window on a node that runs elsewhere. */
export async function browse(url: string, path: string, options?: WindowOptions): Promise<Page> {
  return goTo(await takeWindow(url, options), url + path)
}

async function goTo(page: Page, address: string): Promise<Page> {
  await page.goto(address)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page
}

/** Puts the cookie of a new session into the browser, without the page that does so for people. */
async function signIn(page: Page, url: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'x-skillstead-session': '1' }
  const { headers: answered } = await fetch(`${url}/api/v1/session`, { method: 'POST', headers })
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(answered.get('set-cookie')!)!
  await page.context().addCookies([{ name: name!, value: value!, url, httpOnly: true, sameSite: 'Strict' }])
}

/** To another address of the app as a link leads there, which costs a fraction of loading all of it again. */
export async function goWithin(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
  await settle(page)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
}

/** The sum of all shifts since the page began to load: https://web.dev/articles/cls. */
export function measureShift(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let sum = 0
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[])
            if (!entry.hadRecentInput) sum += entry.value
        })
        observer.observe({ type: 'layout-shift', buffered: true })
        setTimeout(() => resolve(sum), 50)
      }),
  )
}

export const takesPictures = process.env.SKILLSTEAD_PICTURES === '1'

/** With SKILLSTEAD_PICTURES=1, writes what the page looks like to a folder for looking at. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (!takesPictures) return
  mkdirSync(picturesFolder, { recursive: true })
  await page.screenshot({ path: join(picturesFolder, `${name}.png`), fullPage: true })
}

/** The same in both schemes. */
export async function takePictures(page: Page, name: string): Promise<void> {
  if (!takesPictures) return
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await takePicture(page, `${name}-${colorScheme}`)
  }
  await page.emulateMedia({ colorScheme: null })
}

/** Whether an element of the page has the focus, which an effect may move shortly after a click. */
export function isFocused(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement)
}

import { existsSync } from 'node:fs'
import type { Browser, BrowserServer } from 'playwright-core'

/** Where Chromium lies on this machine; undefined where there is none. Debian has it as `chromium`. */
export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
)

/**
 * Debian's `chromium-headless-shell`, in which a context takes a tenth of the processor time because it has no window;
 * where it is missing, {@link chromiumPath}.
 */
export const headlessPath = ['/usr/bin/chromium-headless-shell'].find(existsSync) ?? chromiumPath

const args = ['--no-sandbox', '--disable-dev-shm-usage']
/** Fewer processes: a context costs a third less with them, and nothing here needs what they protect. */
const thriftyArgs = ['--disable-gpu', '--in-process-gpu', '--disable-extensions', '--renderer-process-limit=1']

/** A Chromium of this process alone. */
export async function launchChromium(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath: chromiumPath!, args })
}

/** A Chromium that other processes connect to, for tests that measure no times. */
export async function launchChromiumServer(): Promise<BrowserServer> {
  const { chromium } = await import('playwright-core')
  return chromium.launchServer({ executablePath: headlessPath!, args: [...args, ...thriftyArgs] })
}

export async function connectChromium(endpoint: string): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.connect(endpoint)
}

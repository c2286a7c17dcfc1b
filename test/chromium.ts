import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'

/** Where Chromium lies on this machine; undefined where there is none. Debian has it as `chromium`. */
export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
)

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

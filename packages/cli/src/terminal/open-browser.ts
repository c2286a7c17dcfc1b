import { spawn } from 'node:child_process'
import type { Io } from './io.ts'

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
}

/** Opens a page in the browser of the user, where there is one. Errors do not matter: the address was printed. */
export function openBrowser({ env, stderr }: Io, address: string): void {
  const [program, ...given] = openers[process.platform] ?? []
  const hasDisplay = process.platform !== 'linux' || Boolean(env.DISPLAY ?? env.WAYLAND_DISPLAY)
  if (program === undefined || !stderr.isTTY || !hasDisplay || !/^https?:\/\//.test(address)) return
  spawn(program, [...given, address], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}

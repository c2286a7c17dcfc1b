import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserServer } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { launchChromiumServer } from './chromium.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where test files ask for the built dashboard (`/dashboard`) and for the run's browser (`/browser`). */
    browserUrl: string
  }
}

/**
 * vitest's global setup: one build of the dashboard and one Chromium a run, each begun when the first test asks for it.
 * `/browser` answers with the address to connect to.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  let built: Promise<void> | undefined
  let launched: Promise<BrowserServer> | undefined
  const works: Record<string, () => Promise<string>> = {
    '/dashboard': async () => {
      await (built ??= build())
      return 'built'
    },
    '/browser': async () => (await (launched ??= launchChromiumServer())).wsEndpoint(),
  }
  const server = createServer((request, response) => {
    works[request.url!]!().then(
      (text) => response.end(text),
      (error: Error) => response.writeHead(500).end(error.stack),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  project.provide('browserUrl', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    server.close()
    server.closeAllConnections()
    await (await launched)?.close()
  }
}

async function build(): Promise<void> {
  const { buildDashboard } = await import('../../packages/dashboard/building/build.ts')
  await buildDashboard()
}

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { forwardRequest } from './forward-request.ts'

/** Whether a proxy removes the path, below which it publishes a node, from the requests that it sends to the node. */
export type PathMode = 'strips' | 'keeps'

/** A proxy that publishes a node below a path, and `/v2/` at the root, where clients of OCI registries look for it. */
export interface PathProxy {
  readonly origin: string
  /** Sets the port of the node, which starts later because it needs the URL of the proxy. */
  aim(port: number): void | Promise<void>
}

/** Opens a proxy until the end of the test. */
export async function openPathProxy(path: string, mode: PathMode): Promise<PathProxy> {
  let target = 0
  const server = createServer((incoming, outgoing) => {
    const { url = '/' } = incoming
    const isBelow = url.startsWith(`${path}/`)
    if (!isBelow && !url.startsWith('/v2/')) return void outgoing.writeHead(404, { 'x-proxy': 'other' }).end()
    forwardRequest(incoming, outgoing, target, isBelow && mode === 'strips' ? url.slice(path.length) : url)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    aim: (port) => void (target = port),
  }
}

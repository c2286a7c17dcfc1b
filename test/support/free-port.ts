import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/** A port of loopback that was free just now, for a program that cannot choose one itself. */
export async function findFreePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

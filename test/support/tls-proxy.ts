import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { makeFolder } from './cli-harness.ts'
import { forwardRequest } from './forward-request.ts'

/** A proxy that serves a node over HTTPS, for programs that refuse plain HTTP. */
export interface TlsProxy {
  readonly url: string
  /** Makes git and programs of Node trust the certificate. */
  readonly env: Record<string, string>
  close(): Promise<void>
}

/** Opens a proxy at `localhost` for a node at this port of loopback. */
export async function openTlsProxy(port: number): Promise<TlsProxy> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  })
  const file = join(await makeFolder(), 'certificate.pem')
  await writeFile(file, cert)
  const server = createServer({ key, cert }, (incoming, outgoing) => forwardRequest(incoming, outgoing, port))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    env: { NODE_EXTRA_CA_CERTS: file, GIT_SSL_CAINFO: file },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

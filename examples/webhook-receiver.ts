// Prints the events of a registry: subscribes, prints each event once, and unsubscribes when it is stopped.
// The registry must reach this program over HTTPS, under a host name of TLS_CERT. Run it with
//   SKILLSTEAD_URL=http://localhost:7545 SKILLSTEAD_KEY=ssk_... RECEIVER_HOST=receiver.example.com PORT=8443 \
//     TLS_CERT=cert.pem TLS_KEY=key.pem node --conditions=source examples/webhook-receiver.ts
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { createClient } from '@skillstead/client'
import { createReceiver } from '@skillstead/client/webhooks'

const { SKILLSTEAD_URL = 'http://localhost:7545', SKILLSTEAD_KEY, RECEIVER_HOST, PORT = '8443' } = process.env
const { TLS_CERT = 'cert.pem', TLS_KEY = 'key.pem' } = process.env
if (!SKILLSTEAD_KEY || !RECEIVER_HOST) throw new Error('Set SKILLSTEAD_KEY and RECEIVER_HOST.')

const secret = `whsec_${randomBytes(32).toString('base64')}`
const receiver = createReceiver({ secret })
const tls = { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }
const server = createServer(tls, async (request, response) => {
  if (request.method !== 'POST') return response.writeHead(405, { allow: 'POST' }).end()
  const answer = await receiver.fetch(toRequest(request), ({ timestamp, event, data }) => {
    console.log(timestamp, event, JSON.stringify(data))
  })
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text(), () => {
    if (!request.complete) request.destroy() // Do not wait for the rest of a body that is too large.
  })
})
server.listen(Number(PORT))
await once(server, 'listening')

const api = createClient({ baseUrl: SKILLSTEAD_URL, apiKey: SKILLSTEAD_KEY })
const webhook = await api.createWebhook({
  url: `https://${RECEIVER_HOST}:${(server.address() as AddressInfo).port}/`,
  events: ['skill.published', 'skill.starred', 'skill.review.created', 'user.followed'],
  secret,
})
console.log(`waiting at ${webhook.url}`)

await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
await api.deleteWebhook({ id: webhook.id })
server.close()
server.closeAllConnections()

function toRequest(message: IncomingMessage): Request {
  const headers = message.headers as Record<string, string>
  const body = Readable.toWeb(message) as ReadableStream<Uint8Array>
  return new Request('https://receiver/', { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
}

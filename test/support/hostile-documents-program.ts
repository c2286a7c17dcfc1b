import { readFile } from 'node:fs/promises'
import { createClient } from '@skillstead/client'
import { createReceiver } from '@skillstead/client/webhooks'
import {
  createMirror,
  findUpstream,
  inspectBundle,
  verifyBundle,
  type MirrorOptions,
  type UpstreamKind,
} from '@skillstead/mirror'
import type { Replacements } from '../../packages/mirror/src/upstream-fetch.ts'
import { parseForeignJson, parseProvenance } from '@skillstead/protocol'
import { openRegistry } from './open-registry.ts'

/** A document, and the function of this program that reads it. */
export interface HostileDocument {
  readonly title: string
  readonly reader: keyof typeof readers
  /** An address or a file. */
  readonly place: string
  readonly headers?: Record<string, string>
}

/** How a document was read: the error, or what was returned. */
export interface Outcome {
  readonly title: string
  readonly outcome: string
}

const sync = (kind: UpstreamKind) => async (place: string) => {
  const registry = await openRegistry({ path: ':memory:', works: false })
  const options: MirrorOptions & Replacements = { sleep: async () => {} }
  const mirror = createMirror(registry, options)
  try {
    await mirror.add('main', place, { kind, everySeconds: 0 })
    const { refused, refusedTotal } = await mirror.sync('main')
    return `${refusedTotal} refused: ${refused[0]?.detail ?? ''}`
  } finally {
    await mirror.close()
    await registry.close()
  }
}

const readers = {
  node: sync('node'),
  registry: sync('registry'),
  discovery: sync('discovery'),
  find: async (place: string) => {
    const { kind, keys, problem } = await findUpstream(place)
    return problem ?? `${kind} with ${keys.length} keys`
  },
  inspect: async (place: string) => JSON.stringify((await inspectBundle(place)).header.counts),
  verify: async (place: string) => JSON.stringify((await verifyBundle(place)).header.counts),
  client: async (place: string) => JSON.stringify(await createClient({ baseUrl: place, retries: 0 }).getFeed({})),
  provenance: async (place: string) => parseProvenance(parseForeignJson(await readFile(place, 'utf8'))).digest,
  webhook: async (place: string, headers: Record<string, string> = {}) => {
    const secret = headers['x-secret']!
    const receiver = createReceiver({ secret, now: () => Number(headers['webhook-timestamp']) * 1000 })
    return (await receiver.verify(headers, await readFile(place))).event
  },
}

const documents = JSON.parse(await readFile(process.argv[2]!, 'utf8')) as HostileDocument[]
for (const { title, reader, place, headers } of documents) {
  const outcome = await readers[reader](place, headers).catch((error: Error) => `${error.name}: ${error.message}`)
  console.log(JSON.stringify({ title, outcome }))
}

import { setImmediate } from 'node:timers/promises'
import { createClient } from '@skillstead/client'
import { RegistryError, limits, parseForeignJson } from '@skillstead/protocol'
import type { FeedPage, LogSource } from '../types.ts'
import { patience, type UpstreamFetch } from '../upstream-fetch.ts'

export interface NodeSourceOptions {
  readonly baseUrl: string
  readonly http: UpstreamFetch
  readonly apiKey?: string
  readonly signal?: AbortSignal
}

/** How long reading lines may hold the event loop at a time. */
const sliceMs = 10
/** Nodes end a page of the feed at 4 MiB. */
const answerBytesMax = 16 * 1024 * 1024
/** What is asked for at a time is less, also as base64. */
const blobsBytesMax = 64 * 1024 * 1024
/** More keys do not sign one log. */
const keysMax = 16
const keysBytesMax = 64 * 1024

/** The log of a Skillstead node, over HTTP. Throws `invalid_request` for an address that no node has. */
export function createNodeSource({ baseUrl, http, apiKey, signal }: NodeSourceOptions): LogSource {
  const open = (bytesMax: number) => {
    const fetch = http.within(bytesMax)
    return createClient({ baseUrl, apiKey, signal, fetch, client: 'skillstead-mirror', counts: false, ...patience })
  }
  const [api, blobs, keys] = [open(answerBytesMax), open(blobsBytesMax), open(keysBytesMax)]
  return {
    async readPage(since) {
      // Not parsed yet, whatever its type says.
      return (await api.getFeed({ since, limit: limits.feedPageMax })) as FeedPage
    },
    async *readBlobs(digests) {
      const { body } = await blobs.batchBlobs({ digests: [...digests] })
      yield* readLines(body as Uint8Array, new Set(digests), baseUrl)
    },
    async readKeys() {
      const { body } = await keys.getPublicKey({})
      return Buffer.from(body as Uint8Array)
        .toString('utf8')
        .split('\n')
        .filter((line) => line !== '')
        .slice(0, keysMax)
    },
    async isVerified(fullName) {
      try {
        return (await api.getSkill({ name: fullName })).verified
      } catch (error) {
        // It is gone there since.
        if (error instanceof RegistryError && (error.code === 'not_found' || error.code === 'taken_down')) return false
        throw error
      }
    },
    get requests() {
      return http.requests
    },
  }
}

/** Every digest that was asked for has a line, be it only one that says it is not there; else the answer was cut short. */
async function* readLines(
  body: Uint8Array,
  waiting: Set<string>,
  who: string,
): AsyncGenerator<{ digest: string; bytes: Uint8Array }> {
  let turnedMs = performance.now()
  for (const line of splitLines(body)) {
    const { digest, content } = parseLine(line, who)
    if (waiting.delete(digest) && content !== undefined) yield { digest, bytes: Buffer.from(content, 'base64') }
    if (performance.now() - turnedMs < sliceMs) continue
    await setImmediate()
    turnedMs = performance.now()
  }
  if (waiting.size === 0) return
  throw new RegistryError('upstream_failed', `${who} broke off its answer; ${waiting.size} files are missing from it.`)
}

function* splitLines(body: Uint8Array): Generator<string> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(0x0a, start)
    const end = found === -1 ? bytes.length : found
    if (end > start) yield bytes.toString('utf8', start, end)
    start = end + 1
  }
}

function parseLine(line: string, who: string): { digest: string; content?: string } {
  try {
    const { digest, content, missing } = parseForeignJson(line) as Record<string, unknown>
    if (typeof digest === 'string' && typeof content === 'string') return { digest, content }
    // Said in so many words: what is taken for missing is not asked for again.
    if (typeof digest === 'string' && missing === true) return { digest }
  } catch {
    // Told below.
  }
  throw new RegistryError('upstream_failed', `${who} answered a line that is none of a list of files.`)
}

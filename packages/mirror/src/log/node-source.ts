import { setImmediate } from 'node:timers/promises'
import { createClient } from '@skillstead/client'
import { RegistryError, limits, orUndefined, readFields } from '@skillstead/protocol'
import type { FeedPage, LogSource } from '../types.ts'
import { patience, type UpstreamFetch } from '../upstream-fetch.ts'

export interface NodeSourceOptions {
  readonly baseUrl: string
  readonly http: UpstreamFetch
  readonly apiKey?: string
  readonly signal?: AbortSignal
}

/** Maximum time in ms for which reading the lines of a response may block the event loop. */
const blockMsMax = 10
/** Maximum size of a page of the feed. Nodes return at most 4 MiB. */
const pageBytesMax = 16 * 1024 * 1024
/** Maximum size of a response with blobs. The blobs of one request are smaller, even encoded in base64. */
const blobsBytesMax = 64 * 1024 * 1024
/** Maximum number of keys of one log. */
const keysMax = 16
const keysBytesMax = 64 * 1024

/** Reads the log of a Skillstead node over HTTP. Throws `invalid_request` for an invalid URL. */
export function createNodeSource({ baseUrl, http, apiKey, signal }: NodeSourceOptions): LogSource {
  const open = (bytesMax: number) => {
    const fetch = http.within(bytesMax)
    return createClient({ baseUrl, apiKey, signal, fetch, client: 'skillstead-mirror', counts: false, ...patience })
  }
  const [api, blobs, keys] = [open(pageBytesMax), open(blobsBytesMax), open(keysBytesMax)]
  return {
    async readPage(since) {
      // Cast, because the response has this type only after the caller has validated it.
      return (await api.getFeed({ since, limit: limits.feedPageMax })) as FeedPage
    },
    async *readBlobs(digests) {
      const { body } = await blobs.batchBlobs({ digests: [...digests] })
      yield* readBlobLines(body as Uint8Array, new Set(digests), baseUrl)
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
      // Undefined if the upstream has deleted the skill meanwhile.
      const skill = await orUndefined(api.getSkill({ name: fullName }), 'not_found', 'taken_down')
      return skill ? skill.verified : false
    },
    get requests() {
      return http.requests
    },
  }
}

/**
 * Reads the lines of a response with blobs. A complete response has a line for each requested digest, even for a
 * missing blob. A response with fewer lines was cut off, and throws.
 */
async function* readBlobLines(
  body: Uint8Array,
  waiting: Set<string>,
  who: string,
): AsyncGenerator<{ digest: string; bytes: Uint8Array }> {
  let yieldedMs = performance.now()
  for (const line of splitLines(body)) {
    const { digest, content } = parseBlobLine(line, who)
    if (waiting.delete(digest) && content !== undefined) yield { digest, bytes: Buffer.from(content, 'base64') }
    if (performance.now() - yieldedMs < blockMsMax) continue
    await setImmediate()
    yieldedMs = performance.now()
  }
  if (waiting.size === 0) return
  throw new RegistryError(
    'upstream_failed',
    `The response of ${who} ended early: ${waiting.size} files are missing from it.`,
  )
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

function parseBlobLine(line: string, who: string): { digest: string; content?: string } {
  const { digest, content, missing } = readFields(line)
  if (typeof digest === 'string' && typeof content === 'string') return { digest, content }
  // A blob counts as missing only if the line says so, because it is then not requested again.
  if (typeof digest === 'string' && missing === true) return { digest }
  throw new RegistryError('upstream_failed', `${who} returned a line that describes no file.`)
}

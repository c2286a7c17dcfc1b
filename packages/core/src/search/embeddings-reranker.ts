import { endianness } from 'node:os'
import { LRUCache } from 'lru-cache'
import * as v from 'valibot'
import type { HttpClient } from '../http/http-client.ts'
import { endAll } from '../kernel/end-all.ts'
import { parseServiceUrl } from '../kernel/service-url.ts'
import { type Param, compileQuery } from '../storage/compiled-query.ts'
import type { Database } from '../storage/database.ts'
import { isInList } from '../storage/list-query.ts'
import type { Reranker, RerankText } from './reranker.ts'

/** An embeddings service with the interface of OpenAI (`POST /embeddings`), such as Ollama, vLLM or llama.cpp. */
export interface EmbeddingsOptions {
  /** The address without `/embeddings`, such as `http://127.0.0.1:11434/v1`. */
  readonly url: string
  readonly model: string
  /** Sent as a bearer token. Default: none. */
  readonly key?: string
  /** Time limit in milliseconds, after which a search keeps its order by words. Default: 300. */
  readonly timeoutMs?: number
}

interface Parts {
  readonly database: Database
  readonly client: HttpClient
  readonly now: () => number
}

const queriesMax = 500
const recentMax = 500
/** Texts of one request: services refuse larger requests, some above 32 texts. */
const textsPerRequest = 16
const dimensionsMax = 4096
const embeddingsBytesMax = 32 * 1024 * 1024
/** Time limit of a request, longer than the time limit of a search: a late result serves later searches. */
const embeddingsRequestMs = 30_000

const EmbeddingsAnswer = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    data: v.array(
      v.object({
        index: v.number(),
        embedding: v.pipe(v.array(v.pipe(v.number(), v.finite())), v.minLength(1), v.maxLength(dimensionsMax)),
      }),
    ),
  }),
)

/**
 * Compares by the cosine of embeddings. The embeddings of skills are stored by model and digest. At most one request
 * for missing embeddings runs at a time, and continues after the search that started it. Sends texts of public skills
 * and queries only.
 */
export class EmbeddingsReranker implements Reranker {
  readonly #service: EmbeddingsService
  readonly #database: Database
  readonly #now: () => number
  readonly #queries = new LRUCache<string, Promise<Float32Array>>({ max: queriesMax })
  /** Vectors that were not yet stored when they were needed, or cannot be stored. */
  readonly #recent = new LRUCache<string, Uint8Array>({ max: recentMax })
  #filling: Promise<unknown> | undefined

  /** Throws a TypeError if the address is not one of http or https without credentials. */
  constructor(options: EmbeddingsOptions, { database, client, now }: Parts) {
    this.#service = { client, target: toEmbeddingsUrl(options.url), model: options.model, key: options.key }
    this.#database = database
    this.#now = now
  }

  async compare(query: string, texts: readonly RerankText[], signal: AbortSignal): Promise<(number | undefined)[]> {
    // Waits for both reads even if one fails, so that requests of two searches do not overlap.
    const [known, vector] = await endAll([this.#readAll(texts, signal), this.#embedQuery(query)])
    return texts.map(({ digest }) => toCosine(known.get(digest), vector))
  }

  /** The vectors of texts. Missing vectors are requested after the vectors that earlier searches requested. */
  async #readAll(texts: readonly RerankText[], signal: AbortSignal): Promise<Map<string, Float32Array>> {
    while (!signal.aborted) {
      const known = await this.#readKnown(texts)
      const missing = texts.filter(({ digest }) => !known.has(digest))
      if (missing.length === 0 || signal.aborted) return known
      if (this.#filling) {
        await this.#filling
        continue
      }
      const filled = this.#fill(missing)
      // Later searches wait for `#filling`, but its failure concerns only this search.
      this.#filling = filled.catch(() => {}).finally(() => (this.#filling = undefined))
      await filled
    }
    return new Map()
  }

  async #readKnown(texts: readonly RerankText[]): Promise<Map<string, Float32Array>> {
    const digests = texts.map(({ digest }) => digest)
    const rows = await this.#database.read
      .selectFrom('embeddings')
      .select(['digest', 'vector'])
      .where('model', '=', this.#service.model)
      .where(isInList(this.#database.dialect, 'digest', digests))
      .execute()
    const found = new Map(rows.map(({ digest, vector }) => [digest, toEmbedding(vector)]))
    for (const digest of digests) {
      const vector = this.#recent.get(digest)
      if (vector) found.set(digest, toEmbedding(vector))
    }
    return found
  }

  /** Embeds texts and stores the vectors, in requests of the size that services accept. */
  async #fill(texts: readonly RerankText[]): Promise<void> {
    const { model } = this.#service
    for (let at = 0; at < texts.length; at += textsPerRequest) {
      const batch = texts.slice(at, at + textsPerRequest)
      const vectors = await requestEmbeddings(
        this.#service,
        batch.map(({ text }) => text),
      )
      // 32-bit floats, little-endian.
      const rows = batch.map(({ digest }, i) => ({
        model,
        digest,
        vector: toLittleEndian(new Uint8Array(Float32Array.from(vectors[i]!).buffer)),
        stored_at: this.#now(),
      }))
      for (const { digest, vector } of rows) this.#recent.set(digest, vector)
      if (this.#database.isReadOnly) continue
      await this.#database.writer.write(async (trx) => {
        for (const row of rows) await insertEmbedding(trx, row)
      })
    }
  }

  #embedQuery(query: string): Promise<Float32Array> {
    const known = this.#queries.get(query)
    if (known) return known
    const vector = requestEmbeddings(this.#service, [query]).then(([only]) => only!)
    this.#queries.set(query, vector)
    vector.catch(() => this.#queries.delete(query))
    return vector
  }
}

interface EmbeddingsService {
  readonly client: HttpClient
  readonly target: URL
  readonly model: string
  readonly key: string | undefined
}

async function requestEmbeddings(
  { client, target, model, key }: EmbeddingsService,
  input: readonly string[],
): Promise<Float32Array<ArrayBuffer>[]> {
  const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) }
  const body = JSON.stringify({ model, input, encoding_format: 'float' })
  const answer = await client.send(
    target,
    { method: 'POST', headers, body },
    { timeoutMs: embeddingsRequestMs, bytesMax: embeddingsBytesMax },
  )
  if (answer.status !== 200) throw new Error(`The embeddings service responded with the status ${answer.status}.`)
  return readVectors(answer.bytes, input.length)
}

/**
 * Deletes embeddings that were stored before a time, such as those of former texts, and the oldest beyond a number of
 * rows. Deleted embeddings are requested again if needed.
 */
export async function sweepEmbeddings(database: Database, limits: { before: number; rowsMax: number }): Promise<void> {
  const excess = await database.read
    .selectFrom('embeddings')
    .select('stored_at')
    .orderBy('stored_at', 'desc')
    .offset(limits.rowsMax)
    .limit(1)
    .executeTakeFirst()
  const before = Math.max(limits.before, excess ? excess.stored_at + 1 : 0)
  await database.writer.write((trx) => trx.deleteFrom('embeddings').where('stored_at', '<', before).execute())
}

const insertEmbedding = compileQuery(
  (db, param: Param<{ model: string; digest: string; vector: Uint8Array; stored_at: number }>) =>
    db
      .insertInto('embeddings')
      .values({
        model: param('model'),
        digest: param('digest'),
        vector: param('vector'),
        stored_at: param('stored_at'),
      })
      .onConflict((conflict) => conflict.columns(['model', 'digest']).doNothing()),
)

function toEmbeddingsUrl(url: string): URL {
  const base = parseServiceUrl(url, 'the embeddings service')
  base.pathname = `${base.pathname.replace(/\/$/, '')}/embeddings`
  return base
}

/**
 * The vectors of an answer, scaled to length 1, in the order of the texts. Throws if a vector is missing or invalid.
 */
function readVectors(bytes: Uint8Array, count: number): Float32Array<ArrayBuffer>[] {
  const parsed = v.safeParse(EmbeddingsAnswer, Buffer.from(bytes).toString())
  if (!parsed.success) throw new Error('The embeddings service responded with something other than embeddings.')
  const sorted = parsed.output.data.toSorted((a, b) => a.index - b.index)
  const { length } = sorted[0]?.embedding ?? []
  const isComplete =
    sorted.length === count && sorted.every((one, i) => one.index === i && one.embedding.length === length)
  if (!isComplete) throw new Error(`The embeddings service did not respond with ${count} embeddings of one length.`)
  return sorted.map(({ embedding }) => {
    const norm = Math.hypot(...embedding) || 1
    return Float32Array.from(embedding, (value) => value / norm)
  })
}

function toEmbedding(bytes: Uint8Array): Float32Array {
  return new Float32Array(toLittleEndian(Uint8Array.from(bytes)).buffer)
}

/** Swaps the bytes of 32-bit numbers in place on machines that store them big-endian. */
function toLittleEndian(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (endianness() === 'BE') Buffer.from(bytes.buffer).swap32()
  return bytes
}

/**
 * The cosine of two vectors; undefined if a text has no vector, or if the model changed the length of its vectors under
 * the same name.
 */
function toCosine(a: Float32Array | undefined, b: Float32Array): number | undefined {
  if (!a || a.length !== b.length) return undefined
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}

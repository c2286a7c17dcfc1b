import { LRUCache } from 'lru-cache'

/** The text of a public skill, and the digest of the text: SHA-256 in lower-case hexadecimal. */
export interface RerankText {
  readonly digest: string
  readonly text: string
}

/** The optional second stage of a search: compares texts with a query, for example by embeddings. */
export interface Reranker {
  /**
   * Returns how similar each text is to the query, in the order of the texts; higher is more similar, and undefined is
   * unknown. The search ignores a result that arrives after the signal aborted. An error is logged by the search.
   */
  compare(query: string, texts: readonly RerankText[], signal: AbortSignal): Promise<readonly (number | undefined)[]>
}

/** A hit of the first stage. A hit without a text is ordered by its score alone. */
export interface Rerankable {
  readonly num: number
  /** The public score of the first stage. */
  readonly score: number
  readonly text?: RerankText
}

interface SecondStageOptions {
  readonly reranker: Reranker
  /** Time limit in milliseconds, after which a search keeps the order of the first stage. */
  readonly timeoutMs: number
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/** Number of best hits that the second stage orders. */
export const rerankedMax = 50
/**
 * A hit with at least this score contains most of the query in its name or other short texts. The first hits keep their
 * places, up to the first hit with a lower score.
 */
const namedScoreMin = 1.26
/** The weight of the similarity in the order, from 0 to 1. The score of the first stage has 1 minus this weight. */
const similarityShare = 0.5
/** After this number of failures in a row, searches omit the second stage for `rerankPauseMs`. */
const rerankFailuresMax = 3
const rerankPauseMs = 60_000
const orderKeptMs = 60_000
/** Time in milliseconds for which results keep the order of the word search after the reranker was late or failed. */
const otherKeptMs = 3000
const ordersMax = 1000

/** Runs a reranker with a time limit, and pauses it after repeated failures. */
export class SecondStage {
  readonly counts = { ordered: 0, late: 0, failed: 0, paused: 0 }
  readonly #options: SecondStageOptions
  readonly #orders = new LRUCache<string, { until: number; order: Promise<Order> }>({ max: ordersMax })
  #failures = 0
  /** No failure is logged until this time: of several failures in {@link rerankPauseMs}, only the first is logged. */
  #quietUntil = -Infinity
  #pausedUntil = -Infinity

  constructor(options: SecondStageOptions) {
    this.#options = options
  }

  /**
   * Returns the hits in the new order, or in the given order if the reranker fails, is late or is paused. Never throws.
   * The order of the same hits for the same query stays for a minute, so that the pages of a search fit together, also
   * if they are requested at the same time.
   */
  async order<Hit extends Rerankable>(query: string, hits: readonly Hit[]): Promise<readonly Hit[]> {
    const key = JSON.stringify([query, hits.map(({ num }) => num)])
    const now = this.#options.now()
    let kept = this.#orders.get(key)
    if (!kept || now >= kept.until) {
      kept = { until: now + orderKeptMs, order: this.#orderOnce(query, hits) }
      this.#orders.set(key, kept)
    }
    const { nums, isOrdered } = await kept.order
    if (!isOrdered) kept.until = Math.min(kept.until, now + otherKeptMs)
    return nums.map((num) => hits.find((hit) => hit.num === num)!)
  }

  async #orderOnce(query: string, hits: readonly Rerankable[]): Promise<Order> {
    const unchanged = { nums: hits.map(({ num }) => num), isOrdered: false }
    const first = hits.findIndex(({ score }) => score < namedScoreMin)
    const others = first === -1 ? [] : hits.slice(first)
    const texts = others.flatMap(({ text }) => text ?? [])
    if (texts.length < 2) return { ...unchanged, isOrdered: true }
    if (this.#options.now() < this.#pausedUntil) {
      this.counts.paused++
      return unchanged
    }
    const found = await this.#compare(query, texts)
    if (!found) return unchanged
    const similarities = new Map(texts.map(({ digest }, i) => [digest, found[i]]))
    const ordered = [...hits.slice(0, first), ...blend(others, similarities)]
    return { nums: ordered.map(({ num }) => num), isOrdered: true }
  }

  async #compare(query: string, texts: readonly RerankText[]) {
    const { reranker, timeoutMs } = this.#options
    const stop = new AbortController()
    const timer = Promise.withResolvers<'late'>()
    const timeout = setTimeout(() => timer.resolve('late'), timeoutMs)
    try {
      const found = await Promise.race([reranker.compare(query, texts, stop.signal), timer.promise])
      if (found === 'late') return this.#fail('late', new Error(`The reranker took more than ${timeoutMs} ms.`))
      if (found.length !== texts.length)
        throw new Error(`The reranker returned ${found.length} similarities for ${texts.length} texts.`)
      this.#failures = 0
      this.counts.ordered++
      return found
    } catch (error) {
      return this.#fail('failed', error)
    } finally {
      clearTimeout(timeout)
      stop.abort()
    }
  }

  #fail(how: 'late' | 'failed', cause: unknown): void {
    this.counts[how]++
    // Failures of searches that were running when the pause began do not count.
    const now = this.#options.now()
    if (now < this.#pausedUntil) return
    this.#failures++
    if (this.#failures === 1 && now >= this.#quietUntil) {
      this.#quietUntil = now + rerankPauseMs
      this.#options.onError(new Error('The second stage of a search failed.', { cause }))
    }
    if (this.#failures < rerankFailuresMax) return
    this.#failures = 0
    this.#pausedUntil = now + rerankPauseMs
    const message = `The second stage of searches failed ${rerankFailuresMax} times in a row and pauses for a minute.`
    this.#options.onError(new Error(message, { cause }))
  }
}

interface Order {
  readonly nums: readonly number[]
  /** False if the second stage failed, was late or was paused. */
  readonly isOrdered: boolean
}

/** Orders hits by score and similarity, each as a share of its range. A hit of unknown similarity counts by its score. */
function blend<Hit extends Rerankable>(
  hits: readonly Hit[],
  similarities: ReadonlyMap<string, number | undefined>,
): Hit[] {
  const known = [...similarities.values()].filter((similarity) => similarity !== undefined).filter(Number.isFinite)
  if (known.length < 2) return [...hits]
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const best = hits[0]!.score
  const keys = new Map(
    hits.map((hit) => {
      const score = best > 0 ? hit.score / best : 0
      const similarity = hit.text && similarities.get(hit.text.digest)
      const isKnown = similarity !== undefined && Number.isFinite(similarity) && most > least
      const share = isKnown ? (similarity - least) / (most - least) : score
      return [hit, score * (1 - similarityShare) + share * similarityShare]
    }),
  )
  return hits.toSorted((a, b) => keys.get(b)! - keys.get(a)!)
}

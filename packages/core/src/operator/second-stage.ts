import type { Clock } from '../kernel/clock.ts'
import { createHttpClient } from '../http/http-client.ts'
import type { OutgoingOptions } from '../http/outgoing.ts'
import { type EmbeddingsOptions, EmbeddingsReranker } from '../search/embeddings-reranker.ts'
import { type Reranker, SecondStage } from '../search/reranker.ts'
import type { Database } from '../storage/database.ts'
import type { Metric } from './metric.ts'

const timeoutMs = 300
/** Maximum parallel requests: one request per search for its query, and one that all searches share for texts. */
const connectionsMax = 8

export interface SecondStageOptions {
  /** An embeddings service that orders the best hits of searches again. Default: none, and no text leaves the node. */
  readonly embeddings?: EmbeddingsOptions
  /** Compares texts with queries in place of `embeddings`. Default: `embeddings` compares them. */
  readonly reranker?: Reranker
  /** Hosts that outgoing requests may reach. Default: public addresses. */
  readonly outgoing?: OutgoingOptions
}

interface SecondStageParts {
  readonly database: Database
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** Creates the second stage of searches, which orders the best hits again; undefined if none is configured. */
export function createSecondStage(
  { embeddings, reranker, outgoing }: SecondStageOptions,
  { database, clock, onError }: SecondStageParts,
) {
  if (!embeddings && !reranker) return undefined
  const now = () => clock.now()
  const client = createHttpClient({ connectionsMax, ca: outgoing?.ca, proxy: outgoing?.proxy })
  const stage = new SecondStage({
    reranker: reranker ?? new EmbeddingsReranker(embeddings!, { database, client, now }),
    timeoutMs: embeddings?.timeoutMs ?? timeoutMs,
    now,
    onError,
  })
  const readMetrics = async (): Promise<Metric[]> =>
    Object.entries(stage.counts).map(([result, value]) => ({
      name: 'skillstead_reranked_searches_total',
      help: 'Searches with a second stage, by its result',
      type: 'counter',
      labels: { result },
      value,
    }))
  return { stage, close: () => client.close(), metricReaders: [readMetrics] }
}

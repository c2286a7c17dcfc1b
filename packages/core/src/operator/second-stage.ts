import type { Clock } from '../kernel/clock.ts'
import { createHttpClient } from '../http/http-client.ts'
import type { OutgoingOptions } from '../http/outgoing.ts'
import { createEmbeddingsReranker, type EmbeddingsOptions } from '../search/embeddings-reranker.ts'
import { type Reranker, SecondStage } from '../search/reranker.ts'
import type { Database } from '../storage/database.ts'
import type { Metric } from './metrics.ts'

const timeoutMs = 300
/** Requests at the same time: one for a query and one for texts, of a few searches. */
const connectionsMax = 8

interface SecondStageOptions {
  readonly embeddings?: EmbeddingsOptions
  readonly reranker?: Reranker
  readonly outgoing?: OutgoingOptions
}

interface Parts {
  readonly database: Database
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** The second stage of searches as the operator configured it; undefined if it was not. */
export function createSecondStage(
  { embeddings, reranker, outgoing }: SecondStageOptions,
  { database, clock, onError }: Parts,
) {
  if (!embeddings && !reranker) return undefined
  const now = () => clock.now()
  const client = createHttpClient({ connectionsMax, ca: outgoing?.ca })
  const stage = new SecondStage({
    reranker: reranker ?? createEmbeddingsReranker(embeddings!, { database, client, now }),
    timeoutMs: embeddings?.timeoutMs ?? timeoutMs,
    now,
    onError,
  })
  return {
    stage,
    close: () => client.close(),
    readMetrics: async (): Promise<Metric[]> =>
      Object.entries(stage.counts).map(([result, value]) => ({
        name: 'skillstead_reranked_searches_total',
        help: 'Searches with a second stage, by its result',
        type: 'counter',
        labels: { result },
        value,
      })),
  }
}

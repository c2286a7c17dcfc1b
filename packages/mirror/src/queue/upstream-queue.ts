import type { UpstreamQueue } from '@skillstead/core/internal'
import { queueInstalls } from './queue-installs.ts'
import { queueOpinion } from './queue-opinion.ts'
import { queuePublish, queueSettings } from './queue-publish.ts'
import type { WriteParts } from './upstream-write.ts'

/** The hooks with which core queues writes to upstreams, in the transactions of the changes. */
export function createUpstreamQueue(parts: WriteParts): UpstreamQueue {
  return {
    queuePublish: (trx, published) => queuePublish(trx, parts, published),
    queueSettings: (trx, change) => queueSettings(trx, parts, change),
    queueOpinion: (trx, opinion) => queueOpinion(trx, parts, opinion),
    queueInstalls: (trx, installs) => queueInstalls(trx, parts, installs),
  }
}

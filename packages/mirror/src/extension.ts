import type { ExtensionDefinition, OperatorContext } from '@skillstead/core/internal'
import { addFirstOrigins } from './applying/first-origins.ts'
import { queueInstalls, queueOpinion } from './queue/queue-opinion.ts'
import { queuePublish, queueSettings } from './queue/queue-publish.ts'
import { migrations } from './tables/migrations.ts'
import { tables } from './tables/table-rules.ts'
import { proveMirroredVersion, upstreamReaderOf } from './store/upstream-log.ts'
import { upstreamsCheck } from './store/upstreams-check.ts'

export { readUpstreamKeys } from './store/upstreams.ts'

/**
 * Extends a registry with the tables and hooks of a mirror: its upstreams, their logs, and the queue of writes to them.
 *
 * @example
 * const registry = await openRegistry({ path: 'skills.db', extensions: [mirrorExtension] })
 * const mirror = createMirror(registry)
 */
export const mirrorExtension: ExtensionDefinition = {
  name: '@skillstead/mirror',
  migrations,
  tables,
  checks: [upstreamsCheck],
  connect: (parts) => ({
    upstreamQueue: {
      queuePublish: (trx, published) => queuePublish(trx, parts, published),
      queueSettings: (trx, change) => queueSettings(trx, parts, change),
      queueOpinion: (trx, opinion) => queueOpinion(trx, parts, opinion),
      queueInstalls: (trx, installs) => queueInstalls(trx, parts, installs),
    },
    upstreamLogs: { addFirstOrigins, proveVersion: proveMirroredVersion, readerOf: upstreamReaderOf },
  }),
}

/** Throws a TypeError for a registry that was opened without the extension. */
export function requireExtension({ extensions }: Pick<OperatorContext, 'extensions'>): void {
  if (extensions.some(({ name }) => name === mirrorExtension.name)) return
  throw new TypeError(
    'The registry has no mirror. Open the registry with `extensions: [mirrorExtension]` of @skillstead/mirror.',
  )
}

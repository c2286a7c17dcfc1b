import type { Kysely } from 'kysely'
import type { UpstreamLogs, UpstreamQueue } from '../catalogue/catalogue-context.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { SchemaExtension } from '../storage/migrations/migration.ts'
import type { Tables } from '../storage/tables.ts'

/** What another package adds to a registry that is opened with it. */
export interface RegistryExtension extends SchemaExtension {
  /** Called once, while the registry opens. */
  connect(parts: ExtensionParts): Partial<ExtensionHooks>
  /** What `skillstead doctor --deep` checks of its tables. */
  readonly checks?: readonly ExtensionCheck[]
}

/** A check that changes nothing. */
export interface ExtensionCheck {
  readonly name: string
  /** Reports progress in lines and each fault in a sentence. Returns the finding where there is none, and the advice where there are. */
  run(
    db: Kysely<Tables>,
    report: { progress(line: string): void; fault(sentence: string): void },
  ): Promise<{ readonly sound: string; readonly advice: string }>
}

/** What the hooks of an extension may use of the registry. */
export interface ExtensionParts {
  readonly clock: Clock
  readonly outbox: Outbox
}

/** What the registry calls, in the transactions of its own changes. */
export interface ExtensionHooks {
  readonly upstreamQueue: UpstreamQueue
  readonly upstreamLogs: UpstreamLogs
}

const ignore = async () => undefined

/** For a registry without a mirror: nothing is written to upstreams, and no upstream's log proves anything. */
const withoutUpstreams: ExtensionHooks = {
  upstreamQueue: { queuePublish: ignore, queueSettings: ignore, queueOpinion: ignore, queueInstalls: ignore },
  upstreamLogs: { addFirstOrigins: async (_trx, _skill, drafts) => [...drafts], proveVersion: ignore },
}

/** The hooks of all extensions. Where two implement the same one, the later one is called. */
export function connectExtensions(extensions: readonly RegistryExtension[], parts: ExtensionParts): ExtensionHooks {
  return Object.assign({}, withoutUpstreams, ...extensions.map(({ connect }) => connect(parts))) as ExtensionHooks
}

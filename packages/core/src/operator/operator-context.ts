import type { CommunityContext } from '../community/community-context.ts'
import type { DownloadCounters } from '../community/download-counters.ts'
import type { Secrets } from '../kernel/secrets.ts'
import type { Replica } from '../storage/replica.ts'
import type { WebhooksContext } from '../webhooks/webhooks-context.ts'
import type { ExtensionDefinition, ExtensionHooks } from './extension.ts'
import type { ServingNode } from './node-port.ts'
import type { SetupCode } from './setup-code.ts'

/** Dependencies of the operator endpoints: the whole registry. */
export interface OperatorContext extends CommunityContext, WebhooksContext {
  readonly counters: Pick<DownloadCounters, keyof DownloadCounters>
  /** The database that lists and searches read. Undefined: lists and searches read the primary database. */
  readonly replica: Replica | undefined
  readonly backups: ExtensionHooks['backups']
  readonly collectGarbage: ExtensionHooks['collectGarbage']
  /** The HTTP node that serves the registry, after it has started. */
  readonly node: ServingNode
  /** The code that a caller must enter to create the first user. */
  readonly setup: SetupCode
  /** When the registry was opened, in milliseconds since 1970. */
  readonly startedAt: number
  /** The extensions that the registry was opened with. */
  readonly extensions: readonly ExtensionDefinition[]
  /** Encrypts API keys for upstreams before they are stored, and values that clients send back to the node. */
  readonly secrets: Secrets
}

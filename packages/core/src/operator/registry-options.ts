import type { PlanName } from '@skillstead/protocol'
import type { ScanPolicy } from '../catalogue/context/scan-policy.ts'
import type { SecondOpinionOptions } from '../catalogue/skills/second-opinion.ts'
import type { Clock } from '../kernel/clock.ts'
import type { SecondStageOptions } from './second-stage.ts'
import type { DatabaseLocation } from '../storage/database.ts'
import type { Mailer } from '../webhooks/mail-notices.ts'
import type { WebhookOptions } from '../webhooks/webhooks-context.ts'

/**
 * The tables, checks and hooks that another package adds to a registry, such as `mirrorExtension`. Their types are in
 * `ExtensionDefinition` of `@skillstead/core/internal`: declared here, these types would make the compiler check the
 * types of the database library in each program that imports this package.
 */
export interface RegistryExtension {
  /** The name of the package. */
  readonly name: string
}

/** Options of `openRegistry`. */
export interface RegistryOptions extends DatabaseLocation, SecondStageOptions {
  /**
   * A streaming replica of `databaseUrl`, which lists and searches read: `postgres://...`. Each list or search waits
   * until the replica has all earlier commits, and reads `databaseUrl` if that takes long. Default: none.
   */
  readonly databaseReadUrl?: string
  /** Source of the current time. Default: the system clock. */
  readonly clock?: Clock
  /**
   * Name of this node in its feed and log, such as its host name. Default: a generated id. The name is stored in the
   * database and cannot change once the log has entries.
   */
  readonly origin?: string
  /**
   * Maximum number of skills for a search in memory; a larger catalogue is searched in the database. 0: always in the
   * database. Default: 150,000.
   */
  readonly memorySkillsMax?: number
  /**
   * An index in memory of at least this many skills has its own thread, so that searches do not delay other calls.
   * `Infinity`: never. Default: 80,000.
   */
  readonly threadSkillsMin?: number
  /** Size of the response cache in bytes; 0 turns it off. Default: 24 MiB. */
  readonly answerBytesMax?: number
  /**
   * Interval in milliseconds at which changes of other processes are polled, also while PostgreSQL sends notifications.
   * Default: 1000.
   */
  readonly pollMs?: number
  /** Whether this process runs background jobs from the outbox; never in the mode `read`. Default: true. */
  readonly works?: boolean
  readonly webhooks?: WebhookOptions
  /** Plan of new users when the administrator names none. Default: free. */
  readonly defaultPlan?: PlanName
  /** Whether an API key opens a session of the dashboard. False: only an identity provider does. Default: true. */
  readonly localSignIn?: boolean
  /** What to do with versions that the scanner flags. Default: publish them with warnings. */
  readonly scanPolicy?: ScanPolicy
  /** A model or a sandbox that is asked about versions which the scan leaves in doubt. Default: none. */
  readonly secondOpinion?: SecondOpinionOptions
  /** Storage quota of each user on the free plan, in bytes; 0 for no quota. Default: 1 GiB. */
  readonly storageQuotaBytes?: number
  /**
   * Whether owners see which users installed their skills. `false` also deletes what was recorded before. Default:
   * nothing is recorded or deleted.
   */
  readonly recordInstallers?: boolean
  /** Sends e-mail notices to users who have an address. Default: none are sent. */
  readonly mailer?: Mailer
  /** Key of 32 bytes that encrypts the API keys of upstreams. Without it, no API key of an upstream can be stored. */
  readonly secretKey?: Uint8Array
  /** Packages that add to the registry, such as `mirrorExtension` of `@skillstead/mirror` and
   * `maintenanceExtension` of `@skillstead/maintenance`. Default: none. */
  readonly extensions?: readonly RegistryExtension[]
  /** Called with errors of background work, which no caller receives. */
  readonly onError?: (error: unknown) => void
  /**
   * The folder with the files of worker threads, for a bundled program: a copy of `dist/threads` of this package.
   * `inline` starts no threads, so that inspections of packages and backups block the calling thread. All registries of
   * a process share their threads, so the option applies to all of them. Default: the files of this package.
   */
  readonly threads?: URL | 'inline'
  /**
   * Called once with a sentence if worker threads cannot be started, such as in a bundled program without the files of
   * its threads. Their work then runs in the calling thread. Default: prints a warning.
   */
  readonly onDegraded?: (what: string) => void
}

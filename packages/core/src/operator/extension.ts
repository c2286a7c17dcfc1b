import { RegistryError, type RegistryApi } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { UpstreamLogs, UpstreamQueue } from '../catalogue/context/ports.ts'
import { sweepShares } from '../catalogue/sharing/share-links.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { SchemaExtension } from '../storage/migrations/migration.ts'
import type { Tables } from '../storage/tables.ts'
import { findUnusedBlobs, removeUnusedBlobs } from '../storage/unused-blobs.ts'
import type { Metric } from './metric.ts'
import type { RegistryExtension } from './registry-options.ts'

/** What a {@link RegistryExtension} consists of: tables, checks and hooks. */
export interface ExtensionDefinition extends SchemaExtension {
  /** Called once, while the registry opens. */
  connect(parts: ExtensionParts): Partial<ExtensionHooks>
  /** The checks of the extension's tables that `skillstead doctor --deep` runs. */
  readonly checks?: readonly ExtensionCheck[]
}

/** A check of the database, which changes nothing. */
export interface ExtensionCheck {
  readonly name: string
  /**
   * Reports progress as lines, and each fault as a sentence. Returns the conclusions for the operator: `sound` if there
   * is no fault, `advice` otherwise.
   */
  run(
    db: Kysely<Tables>,
    report: { progress(line: string): void; fault(sentence: string): void },
  ): Promise<{ readonly sound: string; readonly advice: string }>
}

/** The parts of the registry that the hooks of an extension may use. */
export interface ExtensionParts extends StorageContext {
  readonly outbox: Outbox
  /** Aborts when the registry closes. */
  readonly closing: AbortSignal
  /** Receives errors of background work, which no caller receives. */
  readonly onError: (error: unknown) => void
}

/**
 * Functions of extensions that the registry calls. Functions with a parameter `trx` are called in the transaction of
 * the change that they concern.
 */
export interface ExtensionHooks {
  readonly upstreamQueue: UpstreamQueue
  readonly upstreamLogs: UpstreamLogs
  readonly backups: BackupPort
  /** Deletes unreferenced data. Called once a day. */
  collectGarbage(): Promise<unknown>
}

/** Backups of the registry's file. */
interface BackupPort {
  /** The backups, newest first, and the schedule. */
  list(): ReturnType<RegistryApi['listBackups']>
  /** Makes a backup. Throws `not_implemented` if the database is not a file, `conflict` during another backup. */
  create(caller: Caller): ReturnType<RegistryApi['createBackup']>
  /** Starts the schedule, if there is one. Called by a process that runs jobs. */
  schedule(): Promise<void>
  readMetrics(): Promise<Metric[]>
}

const ignore = async () => undefined

/** The hooks of a registry without extensions: it has no upstreams and makes no backups. */
function createDefaultHooks({ clock, database }: ExtensionParts): ExtensionHooks {
  return {
    upstreamQueue: { queuePublish: ignore, queueSettings: ignore, queueOpinion: ignore, queueInstalls: ignore },
    upstreamLogs: {
      addFirstOrigins: async (_trx, _skill, drafts) => [...drafts],
      proveVersion: ignore,
      readerOf: () => undefined,
    },
    backups: {
      list: async () => ({ backups: [], total: 0, folder: null, schedule: null }),
      create: async () => {
        throw new RegistryError(
          'not_implemented',
          'This registry makes no backups. Open it with `extensions: [maintenanceExtension()]` of @skillstead/maintenance.',
        )
      },
      schedule: ignore,
      readMetrics: async () => [],
    },
    // Deletes unreferenced data also without the maintenance extension: otherwise the database would grow without
    // limit.
    async collectGarbage() {
      await sweepShares(database.writer, clock.now())
      for await (const { unused } of findUnusedBlobs(database.read)) await removeUnusedBlobs(database.writer, unused)
    },
  }
}

/** Converts extensions to their definitions. Throws a TypeError for an object that is no extension. */
export function toDefinitions(extensions: readonly RegistryExtension[]): readonly ExtensionDefinition[] {
  return extensions.map((extension) => {
    if ('connect' in extension) return extension as ExtensionDefinition
    throw new TypeError(`${extension.name} is not an extension. Pass what its package exports as one.`)
  })
}

/** Combines the hooks of all extensions. If two extensions have the same hook, the later extension's is used. */
export function connectExtensions(extensions: readonly ExtensionDefinition[], parts: ExtensionParts): ExtensionHooks {
  return Object.assign(createDefaultHooks(parts), ...extensions.map(({ connect }) => connect(parts)))
}

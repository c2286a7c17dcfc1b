export { toAcceptOptions, toSyncCommand } from './alarms.ts'
export { createBundle, type CreateBundleOptions, type CreatedBundle } from './bundle/create.ts'
export { toCreateCommand, type BundleHeader } from './bundle/format.ts'
export { importBundle, type ImportBundleOptions, type ImportedBundle } from './bundle/import.ts'
export { inspectBundle, type InspectedBundle } from './bundle/read.ts'
export { verifyBundle, type VerifiedBundle, type VerifyBundleOptions } from './bundle/verify.ts'
export { findUpstream, type FindUpstreamOptions, type FoundUpstream } from './find-upstream.ts'
export { mirrorExtension } from './extension.ts'
export { createMirror } from './mirror.ts'
export type {
  AddOptions,
  Alarm,
  AlarmCode,
  ChangeOptions,
  FeedEntry,
  FeedPage,
  Filters,
  KnownReleases,
  LogSource,
  Mirror,
  MirrorMode,
  MirrorOptions,
  NetworkMode,
  Refusal,
  Release,
  SnapshotBatch,
  SnapshotSource,
  StoredRefusal,
  SyncOptions,
  SyncProgress,
  SyncReport,
  Upstream,
  UpstreamKind,
  UpstreamSettings,
  UpstreamStatus,
} from './types.ts'
export type { LinkedAccount } from './write-types.ts'
export type { WriteProblem } from './write-types.ts'
export type { ListWritesOptions, OutboxWrite } from './write-types.ts'
export type { MirrorAccounts, MirrorOutbox } from './write-types.ts'

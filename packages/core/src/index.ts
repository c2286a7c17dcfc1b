export { toDigest } from '@skillstead/skill-format/archives'
export { guest, systemCaller, type Caller, type Guest, type UserCaller } from './caller.ts'
export { authorize, localCall, type AnyReply } from './call.ts'
export { systemClock, type Clock } from './clock.ts'
export type { CallOptions, Context } from './context.ts'
export { findArtifact, parseArtifactFile, type ArtifactPlace, type FoundArtifact } from './discovery/find-artifact.ts'
export { listOffers, readOfferedFiles, type OfferedSkill } from './discovery/list-offers.ts'
export { readDiscoveryIndex, type DiscoveryIndex } from './discovery/read-index.ts'
export type { DiscoveryScope } from './discovery/scopes.ts'
export { EncodedJson } from './encoded-json.ts'
export { localApi } from './local-api.ts'
export { applyEntries, prepareEntries, type PreparedEntries } from './mirrored/apply-entries.ts'
export { applyReleases } from './mirrored/apply-releases.ts'
export { completePacks, type CompletePacks } from './mirrored/complete-packs.ts'
export { parseEntry } from './mirrored/entry-data.ts'
export { readEntryFiles, type EntryFiles } from './mirrored/entry-files.ts'
export { findMissingBlobs } from './mirrored/missing-blobs.ts'
export type {
  ApplyEntries,
  ApplyReleases,
  EntryOutcome,
  FeedEntry,
  MirrorOutcome,
  MirrorRelease,
  MirrorSource,
  RefusalReason,
  ReleaseOutcome,
} from './mirrored/types.ts'
export {
  dropStaged,
  readUpstreamFrontier,
  stageEntries,
  toStagedEntry,
  toStoredSubject,
  type StagedEntry,
} from './mirrored/upstream-log.ts'
export { lookThrough, toMirroredRead } from './mirrored/read-through.ts'
export type { Freshness, UpstreamOperator, UpstreamPort, Upstreams, WantedSkill } from './mirrored/upstream-port.ts'
export type { Metric } from './operator/metrics.ts'
export type { NodePort } from './operator/node-port.ts'
export type { Outbox, OutboxHandler, OutboxJob } from './outbox/outbox.ts'
export type { NameResolver, OutgoingOptions } from './outgoing/outgoing.ts'
export { isNetwork } from './outgoing/public-addresses.ts'
export { secretKeyBytes, type Secrets } from './secrets.ts'
export { readExternalText } from './external/read-address.ts'
export { readBytes } from '@skillstead/skill-format/archives'
export { policyActions, type PolicyAction, type ScanPolicy } from './security/policy.ts'
export { openRegistry, type Registry, type RegistryOptions } from './registry.ts'
export { SkillMoved } from './skills/find-skill.ts'
export {
  importVersion,
  importVersions,
  type ImportOutcome,
  type Imported,
  type ImportedVersion,
} from './skills/import.ts'
export { createStub } from './skills/stubs.ts'
export {
  findPublicVersions,
  readContents,
  readLogFrontier,
  readLogTexts,
  readVersionFiles,
  type LogText,
  type PublicVersion,
} from './sync/bundle-parts.ts'
export { checkRegistry, mendRegistry } from './checks/check-registry.ts'
export type { Finding } from './checks/finding.ts'
export { collectGarbage, type Garbage } from './garbage/collect-garbage.ts'
export { compact, readUse, type FileUse } from './garbage/compact.ts'
export { writeBackup } from './storage/backup.ts'
export { exportRegistry, type ExportOptions, type ExportSummary } from './transfer/export-registry.ts'
export { importRegistry, type ImportOptions, type ImportSummary } from './transfer/import-registry.ts'
export { isExport } from './transfer/read-export.ts'
export { restoreRegistry, type RestoreOptions, type RestoreSummary } from './transfer/restore-registry.ts'
export type { BackupPlan } from './operator/scheduled-backups.ts'
export type { SealedKeys } from './transfer/sealed.ts'
export { makePrivateFolder } from './storage/make-folder.ts'
export type { UpstreamRow } from './storage/rows-mirror.ts'
export type { IdempotentClaim } from './idempotency.ts'
export { toRegistryError } from './storage/storage-error.ts'
export type { UpstreamWriteRow } from './storage/rows-mirror.ts'
export type { WriteTransaction } from './storage/writer.ts'
export { readSignedCheckpoint, type SignedCheckpoint } from './transparency/checkpoint.ts'
export { readVerifierKeys, rotateKey, signText, type VerifierKey } from './transparency/keys.ts'
export { appendLeaf, hashLeaf, toRoot } from './transparency/merkle.ts'
export { splitHashes } from './transparency/tree.ts'
export { isNoteName } from './transparency/notes.ts'
export { proveConsistency, proveInclusion, type InclusionProof } from './transparency/proofs.ts'
export {
  enqueueDelivery,
  toWriteLane,
  upstreamWriteTopic,
  writableKinds,
  type UpstreamWriteJob,
  type WriteBy,
  type WriteKind,
  type WritePayloads,
} from './upstream-writes/write.ts'
export { areDangerous, toPackTexts } from './security/text-scan.ts'

export { toDigest, readBytes } from '@skillstead/skill-format/archives'
export { guest, systemCaller, type Caller, type Guest, type UserCaller } from './kernel/caller.ts'
export { authorize, localCall, type AnyReply } from './call.ts'
export { systemClock, type Clock } from './kernel/clock.ts'
export type { CallOptions } from './kernel/call-options.ts'
export type { OperatorContext } from './operator/operator-context.ts'
export {
  findArtifact,
  parseArtifactFile,
  type ArtifactPlace,
  type FoundArtifact,
} from './catalogue/discovery-artifact.ts'
export { listOffers, readOfferedFiles, type OfferedSkill } from './catalogue/discovery-offers.ts'
export { readDiscoveryIndex, type DiscoveryIndex } from './catalogue/discovery-index.ts'
export type { DiscoveryScope } from './catalogue/discovery-offers.ts'
export { EncodedJson } from './kernel/encoded-json.ts'
export { localApi } from './local-api.ts'
export { lookThrough, toMirroredRead } from './catalogue/upstream-port.ts'
export type { Freshness, UpstreamOperator, UpstreamPort, Upstreams, WantedSkill } from './catalogue/upstream-port.ts'
export type { ExtensionCheck, RegistryExtension } from './operator/extension.ts'
export type { Metric } from './operator/metrics.ts'
export type { NodePort } from './operator/node-port.ts'
export type { Outbox, OutboxHandler, OutboxJob } from './outbox/outbox.ts'
export type { NameResolver, OutgoingOptions } from './http/outgoing.ts'
export { isNetwork } from './http/public-addresses.ts'
export { secretKeyBytes, type Secrets } from './kernel/secrets.ts'
export { readExternalText } from './community/read-external.ts'
export { policyActions, type PolicyAction, type ScanPolicy } from './catalogue/scan-policy.ts'
export { openRegistry, type Registry, type RegistryOptions } from './registry.ts'
export { SkillMoved } from './catalogue/find-skill.ts'
export {
  importVersion,
  importVersions,
  type ImportOutcome,
  type Imported,
  type ImportedVersion,
} from './catalogue/import-versions.ts'
export { createStub } from './catalogue/skill-rows.ts'
export {
  findPublicVersions,
  readContents,
  readLogFrontier,
  readInBatches,
  readLogTexts,
  type LogRange,
  readVersionFiles,
  type LogText,
  type PublicVersion,
} from './catalogue/bundle-parts.ts'
export { collectGarbage, type Garbage } from './operator/collect-garbage.ts'
export { compact, readUse, type FileUse } from './operator/compact.ts'
export { writeBackup } from './storage/backup.ts'
export type { BackupPlan } from './operator/scheduled-backups.ts'
export { makePrivateFolder } from './storage/make-folder.ts'
export type { IdempotentClaim } from './accounts/idempotency.ts'
export { toRegistryError } from './storage/storage-error.ts'
export type { SchemaExtension, TableRule } from './storage/migrations/migration.ts'
export type { WriteTransaction } from './storage/writer.ts'
export { readSignedCheckpoint, type SignedCheckpoint } from './log/checkpoint.ts'
export { readVerifierKeys, rotateKey, signText, type VerifierKey } from './log/signing-keys.ts'
export { appendLeaf, hashLeaf, toRoot } from './log/merkle.ts'
export { splitHashes } from './log/log-tree.ts'
export { isNoteName } from './log/signed-notes.ts'
export { proveConsistency, proveInclusion, type InclusionProof } from './log/log-proofs.ts'
export { areDangerous, toPackTexts } from './catalogue/metadata-scan.ts'

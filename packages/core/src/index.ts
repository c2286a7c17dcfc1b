export { toDigest } from './blobs.ts'
export { guest, systemCaller, type Caller, type Guest, type UserCaller } from './caller.ts'
export { authorize, localCall, type AnyReply } from './call.ts'
export { systemClock, type Clock } from './clock.ts'
export type { CallOptions, Context } from './context.ts'
export { EncodedJson } from './encoded-json.ts'
export { localApi } from './local-api.ts'
export { notImplemented } from './operations.ts'
export type { Outbox, OutboxHandler, OutboxJob } from './outbox/outbox.ts'
export type { NameResolver, OutgoingOptions } from './outgoing/outgoing.ts'
export { isNetwork } from './outgoing/public-addresses.ts'
export { readExternalText } from './external/read-address.ts'
export { policyActions, type PolicyAction, type ScanPolicy } from './security/policy.ts'
export { toSarif } from './scan/sarif.ts'
export { allRules } from './scan/rule-table.ts'
export { scanPackage } from './scan/scan-package.ts'
export { openRegistry, type Metric, type Registry, type RegistryOptions } from './registry.ts'
export { SkillMoved } from './skills/find-skill.ts'
export {
  importVersion,
  importVersions,
  type ImportOutcome,
  type Imported,
  type ImportedVersion,
} from './skills/import.ts'
export { createStub } from './skills/stubs.ts'
export { ArchiveError } from './archives/archive-error.ts'
export { readArchiveFiles, type ArchiveFile } from './archives/read-archive.ts'
export { readZip } from './archives/read-zip.ts'
export { checkRegistry, mendRegistry, type Finding } from './check-registry.ts'
export { readSignedCheckpoint, type SignedCheckpoint } from './transparency/checkpoint.ts'
export { readVerifierKeys, rotateKey, signText, type VerifierKey } from './transparency/keys.ts'
export { isNoteName } from './transparency/notes.ts'
export { proveConsistency, proveInclusion, type InclusionProof } from './transparency/proofs.ts'

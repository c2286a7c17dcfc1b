/**
 * Parts of the registry that other packages of this repository build on, released together with these packages.
 * Programs outside the repository should not import them: they change without notice.
 */
import './kernel/check-node.ts'
export { getCaller } from './accounts/find-user.ts'
export {
  confirmSession,
  type DueSession,
  endUnconfirmed,
  type GroupRule,
  type Identity,
  refuseIdentity,
  signInIdentity,
  takeDueSessions,
} from './accounts/identities.ts'
export {
  exchangeIdentity,
  isTrustedIssuer,
  type ProvenIdentity,
  refuseExchange,
} from './accounts/trusted-publishers.ts'
export { type AuditPosition, auditStart, readAuditAfter, resumeAudit } from './accounts/audit-list.ts'
export { ensureNamespace } from './accounts/users.ts'
export {
  beginIdempotent,
  finishIdempotent,
  type IdempotentEnd,
  type IdempotentClaim,
  answersKeptMs,
  noteWrites,
} from './accounts/idempotency.ts'
export { RateLimit, type SharedLimits } from './storage/shared-limits.ts'
export { allowSignIn, denySignIn, findSignIn, pollSignIn, requestSignIn } from './accounts/sign-ins.ts'
export { type AnyReply, authorize, localCall, PermittedCall } from './local-api.ts'
export {
  findPublicVersions,
  type LogRange,
  type LogText,
  type PublicVersion,
  readContents,
  readLogInBatches,
  readLogFrontier,
  readLogTexts,
} from './catalogue/offers/bundle-parts.ts'
export type { CatalogueContext } from './catalogue/context/catalogue-context.ts'
export type { Opinion, PublishedHere, SettingsChange, Artifact, SkillSettings } from './catalogue/context/ports.ts'
export { readSkillMdRows } from './catalogue/copies/copy-candidates.ts'
export {
  type DiscoveryScope,
  findSharedName,
  addOfferedFiles,
  countAndAnswer,
  countListed,
  listOffers,
  type Offer,
  openShare,
  ownerEntriesMax,
  readOffers,
  type OfferedSkill,
  readOfferedFiles,
  readOfferedPart,
} from './catalogue/offers/offers.ts'
export { toAuthorPart } from './catalogue/copies/show-provenance.ts'
export { readPublicNames } from './catalogue/offers/public-names.ts'
export { countDownload, getSkillVersion } from './catalogue/skills/read-skill.ts'
export {
  covers,
  findCoveringRecall,
  isOffered,
  offeredVersion,
  readActiveRecalls,
  readRecalls,
  type StoredRecall,
  toRecalledError,
} from './catalogue/versions/recalls.ts'
export { emitRecall, storeRecalls, upstreamRecallsMax, withRecall } from './catalogue/skills/store-recalls.ts'
export {
  findSignatureProblem,
  resultNamespace,
  type SignedSubject,
  toSignedResult,
} from './catalogue/versions/signed-result.ts'
export { readSshKey, type SshKey } from './kernel/ssh-signature.ts'
export { getPack, hasPackSkill } from './catalogue/sharing/read-packs.ts'
export { getBlob } from './storage/read-blobs.ts'
export { SkillMoved } from './catalogue/skills/find-skill.ts'
export {
  type Imported,
  type ImportedVersion,
  type ImportOutcome,
  importVersion,
  importVersions,
} from './catalogue/publishing/import-versions.ts'
export { storeLostBlobs } from './catalogue/publishing/move-blobs-job.ts'
export { countFork } from './catalogue/publishing/forks.ts'
export {
  markSynced,
  putPack,
  removeAtSource,
  restoreSkill,
  updateFromSource,
  updateVersion,
} from './catalogue/sharing/mirrored-rows.ts'
export { inspectEach } from './catalogue/inspecting/inspect-packages.ts'
export type { Inspection } from './catalogue/versions/inspection.ts'
export { areDangerous, findInTexts, type Texts, toPackTexts } from './catalogue/inspecting/metadata-scan.ts'
export {
  cleanKeywords,
  type PackageFields,
  readPackageFields,
  withoutNul,
} from './catalogue/versions/package-fields.ts'
export { addPackMembers, replacePackMembers } from './catalogue/sharing/packs.ts'
export { storeVersion } from './catalogue/publishing/publish-version.ts'
export type { Publication } from './catalogue/publishing/publication.ts'
export { refreshSkill, storeComputed } from './catalogue/skills/refresh-skill.ts'
export { canExclude, toPolicyAction, toJudgedVerdict } from './catalogue/context/scan-policy.ts'
export {
  readRepositoryVersions,
  readVersionTexts,
  type RepositoryVersion,
  readReadableFiles,
  readSkillHistory,
  type SkillHistory,
} from './catalogue/offers/histories.ts'
export { compareNew } from './catalogue/versions/version-changes.ts'
export { withShare } from './catalogue/sharing/share-links.ts'
export { findForkSource } from './catalogue/skills/show-details.ts'
export { forgetSketches } from './catalogue/copies/sketch-versions.ts'
export { hasOldTexts, type NumberedText, readTextsAfter, rebuildTexts } from './catalogue/finding/index-texts.ts'
export { sketchSkillMd, type Sketch, toSketch } from './catalogue/sketches/sketch.ts'
export { buildDocument } from './catalogue/skills/build-document.ts'
export { type ListedVersion, selectListedVersions } from './catalogue/versions/skill-document.ts'
export type { FileRow } from './catalogue/versions/stored-version.ts'
export { toResultColumns } from './catalogue/versions/version-evaluations.ts'
export { type SkillCause, toEvaluationEntry, toRecallEntry, toVersionEntry } from './catalogue/skills/skill-log.ts'
export { readKeysOf } from './visibility/audience.ts'
export { publishedCondition } from './visibility/conditions.ts'
export { isListedToAll, isShownToAll, isPublished } from './visibility/decisions.ts'
export { checkPackage, packContent, type PackedContent } from './catalogue/versions/skill-package.ts'
export { applySettings, insertSkill, putStub, toSettingsColumns } from './catalogue/skills/skill-rows.ts'
export {
  type Freshness,
  lookThrough,
  toMirroredRead,
  type UpstreamOperator,
  type UpstreamPort,
  type Upstreams,
  type WantedSkill,
} from './catalogue/context/upstream-port.ts'
export {
  dropUploads,
  measureUploads,
  readUploads,
  storeUpload,
  unknownUpload,
  uploadKeptMs,
} from './catalogue/publishing/uploads.ts'
export type { MirroredInstalls } from './catalogue/context/use-counts.ts'
export { countedAs, type ClientKind } from './kernel/client-kinds.ts'
export {
  readFileRows,
  readFileRowsOfMany,
  readPackageFiles,
  toContentType,
} from './catalogue/versions/version-files.ts'
export { settleTrust, toTrustScore, trustTable } from './community/agent-actions.ts'
export { readExternalText } from './community/external-skills.ts'
export { findDrift, recomputeStandings } from './community/reputation.ts'
export { createNamer } from './embedding/import-names.ts'
export { type ImportSummary, runImport } from './embedding/run-import.ts'
export { findEvaluation, putEvaluation } from './governance/evaluations.ts'
export { countUnscanned } from './governance/rescan.ts'
export { followRules, getRules, removeRules, updateRules } from './governance/rules-updates.ts'
export { isProxyUrl } from './http/proxy.ts'
export { acceptedEncodings, createHttpClient, followRedirects, type HttpRequest } from './http/http-client.ts'
export { isNetwork } from './http/public-addresses.ts'
export { mapInBatches } from './kernel/batches.ts'
export { accountId } from './kernel/caller.ts'
export { EncodedJson, type PreparedResponse } from './kernel/encoded-json.ts'
export { newId } from './kernel/ids.ts'
export { type CallInFlight, createInFlight, type InFlight, type InFlightLimits } from './kernel/in-flight.ts'
export { checkJsonShape } from './kernel/json-shape.ts'
export { printError } from './kernel/print-error.ts'
export { createSecrets, type Secrets } from './kernel/secrets.ts'
export { isSliceOver, nextSlice } from './kernel/time-slices.ts'
export { appendChange, type LogDraft } from './log/append-change.ts'
export { recordAudit } from './log/audit.ts'
export { type CheckedTree, findTreeProblem } from './log/check-tree.ts'
export { readSignedCheckpoint } from './log/checkpoint.ts'
export { jsonBytes, toEntryText } from './log/entry-text.ts'
export { type InclusionProof, proveIn, proveInclusion, readFrontier } from './log/log-proofs.ts'
export {
  growTree,
  readTreeHead,
  splitHashes,
  tileHashes,
  type TreeHead,
  ownTree,
  type TreeReader,
  type TreeRows,
} from './log/log-tree.ts'
export { appendLeaf, hashLeaf, toRoot } from './log/merkle.ts'
export { startEpoch } from './log/node-identity.ts'
export { isNoteName } from './log/signed-notes.ts'
export { findKeyProblem, readVerifierKeys, rotateKey, signText } from './log/signing-keys.ts'
export type { ExtensionCheck, ExtensionDefinition, ExtensionParts } from './operator/extension.ts'
export { toMetric } from './operator/metric.ts'
export type { NodePort } from './operator/node-port.ts'
export type { OperatorContext } from './operator/operator-context.ts'
export { hasDiskSpace } from './operator/readiness.ts'
export type { OutboxJob, Topic } from './outbox/jobs.ts'
export type { Outbox } from './outbox/outbox.ts'
export { partsOf, withParts } from './registry.ts'
export { toIndexText } from './search/index-text.ts'
export { putTerms } from './search/database/version-terms.ts'
export { type Blob, type BlobPart, createBlob, unpackBlob } from './storage/blobs.ts'
export { type BlobRow, findBlob, isInRow, noBucketAdvice, openBlob } from './storage/read-blobs.ts'
export type { Bucket } from './storage/bucket/bucket.ts'
export { moveToBucket, moveToDatabase } from './storage/move-blobs.ts'
export type { BucketOptions } from './storage/bucket/s3-objects.ts'
export { findUnusedObjects, removeUnusedObjects } from './storage/unused-objects.ts'
export { compileInsert, compileQuery, type Param } from './storage/compiled-query.ts'
export { copySqliteFile } from './storage/sqlite/copy-file.ts'
export { countRows } from './storage/count-rows.ts'
export {
  connectPostgres,
  type Database,
  type DatabaseLocation,
  openBucket,
  openDatabase,
  type OpenDatabaseOptions,
} from './storage/database.ts'
export type { Dialect } from './storage/dialect.ts'
export { makePrivateFolder } from './storage/make-folder.ts'
export { findUnknownSteps, hasExtension, isOlderSchema, migrate, readAppliedSteps } from './storage/migrate.ts'
export {
  type Migration,
  runStatements,
  type SchemaExtension,
  type TableRule,
  type Types,
} from './storage/migrations/migration.ts'
export { openFileForFilling } from './storage/sqlite/sqlite.ts'
export { openSqliteForReading } from './storage/sqlite/sqlite-reading.ts'
export { createProgress, readPages, type Report } from './storage/pages.ts'
export {
  bytes,
  json,
  oneOf,
  optional,
  text,
  whole,
  type Column,
  type Json,
  type RowsOf,
} from './storage/schema/columns.ts'
export { findCrowded } from './storage/shared-shingles.ts'
export type { StorageContext } from './storage/storage-context.ts'
export { toRegistryError } from './storage/storage-error.ts'
export { parseJson, type PackRow, type SkillRow, type Tables, type UserRow, type VersionRow } from './storage/tables.ts'
export { putSkillText, type SkillText, toVector } from './storage/text-search.ts'
export { findUnusedBlobs, removeUnusedBlobs } from './storage/unused-blobs.ts'
export { withWrite, type WriteTransaction } from './storage/writer.ts'

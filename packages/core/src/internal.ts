/**
 * Parts of the registry that other packages of this repository build on. They are released together. Programs outside
 * the repository should not import them: they change without notice.
 */
export { ensureNamespace } from './accounts/users.ts'
export {
  type CatalogueContext,
  type Opinion,
  type PublishedHere,
  type SettingsChange,
  type UpstreamLogs,
  type UpstreamQueue,
} from './catalogue/catalogue-context.ts'
export { removeCollaborators } from './catalogue/collaborators.ts'
export { inspectEach } from './catalogue/inspect-packages.ts'
export { type Inspection, showAccessAmong, findScan } from './catalogue/inspection.ts'
export { cleanKeywords, type PackageFields, readPackageFields, withoutNul } from './catalogue/package-fields.ts'
export { addMembers } from './catalogue/packs.ts'
export { announceVersion, type Publication, storeVersion } from './catalogue/publish-version.ts'
export { readSources } from './catalogue/copy-candidates.ts'
export { refreshSkill } from './catalogue/refresh-skill.ts'
export { toAction, toPolicyVerdict } from './catalogue/scan-policy.ts'
export { findSource } from './catalogue/show-details.ts'
export { forgetSketches } from './catalogue/sketch-versions.ts'
export { type Sketch, toSketch } from './catalogue/sketch.ts'
export { type ListedVersion, selectVersions, toDocument, type VersionMetadata } from './catalogue/skill-document.ts'
export { type SkillCause, isPublicMatter, toVersionEntry } from './catalogue/skill-log.ts'
export { checkPackage, packContent, type PackedContent } from './catalogue/skill-package.ts'
export { insertSkill, applySettings, type SkillSettings, toColumns, findState } from './catalogue/skill-rows.ts'
export { findInTexts, type Texts, toPackTexts } from './catalogue/metadata-scan.ts'
export { type MirroredInstalls } from './catalogue/use-counts.ts'
export { type FileRow, readFiles, readFilesOfMany } from './catalogue/version-files.ts'
export { toTrustScore, trustTable } from './community/agent-actions.ts'
export { findDrift, recomputeStandings } from './community/recompute-reputation.ts'
export { recountCredit } from './community/skill-credit.ts'
export { countUnscanned } from './governance/rescan.ts'
export { mapInSlices } from './kernel/batches.ts'
export { accountId, systemCaller } from './kernel/caller.ts'
export { type Clock, systemClock } from './kernel/clock.ts'
export { newId } from './kernel/ids.ts'
export { createSecrets } from './kernel/secrets.ts'
export { appendChange, type LogDraft } from './log/append-change.ts'
export { recordAudit } from './log/audit.ts'
export { checkLog } from './log/check-log.ts'
export { type CheckedTree, findTreeProblem } from './log/check-tree.ts'
export { jsonBytes, toEntryText } from './log/entry-text.ts'
export { proveIn, readFrontier } from './log/log-proofs.ts'
export { growTree, readTreeHead, splitHashes, tileHashes } from './log/log-tree.ts'
export { hashLeaf, toRoot } from './log/merkle.ts'
export { startEpoch } from './log/node-identity.ts'
export { type TreeReader, type TreeRows } from './log/tree-rows.ts'
export { type OperatorContext } from './operator/operator-context.ts'
export { findPartialFiles } from './operator/partial-files.ts'
export { type Outbox } from './outbox/outbox.ts'
export { type Registry } from './registry.ts'
export { indexTexts } from './search/index-texts.ts'
export { toIndexText } from './search/tokenize.ts'
export { copyRegistry } from './storage/backup.ts'
export { type Blob, findBlob, unpackBlob } from './storage/blobs.ts'
export {
  bytes,
  createTables,
  keyedTable,
  oneOf,
  optional,
  orderedText,
  primary,
  type RowsOf,
  table,
  text,
  to,
  whole,
  zero,
} from './storage/schema/columns.ts'
export { keepCompiled, keepInsert } from './storage/compiled-query.ts'
export { countRows } from './storage/count-rows.ts'
export { type Database, type DatabaseLocation, openDatabase, type OpenDatabaseOptions } from './storage/database.ts'
export { type Dialect } from './storage/dialect.ts'
export { makePrivateFolder } from './storage/make-folder.ts'
export { findUnknownSteps, hasExtension, isOlderSchema, migrate, readAppliedSteps } from './storage/migrate.ts'
export { type Migration, type SchemaExtension, type TableRule } from './storage/migrations/migration.ts'
export { createProgress, readPages, type Tell } from './storage/pages.ts'
export { placeFile } from './storage/place-file.ts'
export { openPostgres } from './storage/postgres.ts'
export { findCrowded } from './storage/shared-shingles.ts'
export { openFileForFilling, openFileForReading } from './storage/open-file.ts'
export { type PackRow, type SkillRow, type Tables, type UserRow, type VersionRow } from './storage/tables.ts'
export { clearTexts, findWrongTexts, noticeMovedTexts, type NumberedText } from './storage/text-drift.ts'
export { putSkillText } from './storage/text-search.ts'
export { type WriteTransaction } from './storage/writer.ts'

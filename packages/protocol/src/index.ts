export { attempt } from './attempt.ts'
export { allowances, type Allowance, type AllowanceName } from './allowances.ts'
export type {
  Api,
  ApiOptions,
  Content,
  Endpoint,
  Endpoints,
  Input,
  Operations,
  Output,
  Parsed,
  Reply,
  Result,
  SuccessStatus,
  TypedEndpoint,
} from './endpoint.ts'
export { tagTexts } from './endpoint.ts'
export { endpoints, type EndpointName, type RegistryApi } from './endpoints.ts'
export type { PublishSkillInput } from './endpoints/skills-endpoints.ts'
export { errorRemedies } from './error-remedies.ts'
export {
  RegistryError,
  errorTable,
  isRegistryError,
  isResponseCode,
  localErrorTable,
  orUndefined,
  readErrorCode,
  toErrorText,
  toProblem,
  toProblemType,
} from './errors.ts'
export type { ErrorCode, FieldError, Problem, RegistryErrorOptions } from './errors.ts'
export {
  WebhookEvent,
  eventNames,
  isWebhookEvent,
  pingEvent,
  type EventData,
  type EventName,
} from './schemas/events.ts'
export { limits } from './limits.ts'
export { findSkippedPath, isSkippedName } from './skipped-names.ts'
export type { SearchFilters } from './schemas/search-filters.ts'
export { searchControls, searchFilters, type SearchFilterName } from './filter-table.ts'
export { isLoopbackHost } from './loopback.ts'
export { compareFiles, parseManifestLine, toManifest, type ManifestFile } from './manifest.ts'
export {
  isOwnerOrFullName,
  isSkillName,
  isUsername,
  reservedOwners,
  toMarketplaceName,
  toOwnerName,
  toShortName,
} from './names.ts'
export { JsonLimitError, firstIssueOnly, isRecord, parseForeignJson, readFields, toFields } from './parse-json.ts'
export { guestRequestsPerMinute, includesPlan, planNames, plans, type PlanName } from './plans.ts'
export {
  accessKinds,
  type Access,
  type AccessKind,
  type FileDiff,
  type SkillDiff,
  type Widens,
} from './schemas/access.ts'
export type { ApiKey, Me, Profile, Session, User } from './schemas/account.ts'
export {
  updateReasons,
  type Agent,
  type AgentActivity,
  type AgentReview,
  type HeartbeatResult,
} from './schemas/agent.ts'
export type { Change, ChangeFinding } from './schemas/change.ts'
export {
  EvaluationResult,
  hasRunOfEachCase,
  ProgramName,
  type Evaluation,
  type EvaluationSummary,
} from './schemas/evaluation.ts'
export { dmcaStatuses, type DmcaCase, type DmcaCounterNotice, type DmcaNotice } from './schemas/dmca.ts'
export type { ExternalSkill, Trending } from './schemas/external.ts'
export { alarmCodes, type MirrorReport, type MirrorStatus, type MirrorWrite } from './schemas/mirror.ts'
export type { QuarantinedDetails, QuarantinedVersion } from './schemas/quarantine.ts'
export {
  moderationStates,
  reportStatuses,
  type CopyReport,
  type ModeratedSkill,
  type Moderation,
  type Report,
} from './schemas/moderation.ts'
export type { Backup, BackupSchedule, OutboxRow, Overview, RateLimits, StorageUse } from './schemas/operator.ts'
export type { Opinion } from './schemas/opinion.ts'
export type { Pack } from './schemas/pack.ts'
export {
  parseEvaluationEntry,
  parseProvenance,
  parseVersionEntry,
  provenEvaluationsMax,
  toSignedFields,
  type EvaluationEntry,
  type Provenance,
  type VersionEntry,
} from './schemas/provenance.ts'
export {
  verificationStatuses,
  type ListedVerification,
  type Reputation,
  type Verification,
} from './schemas/reputation.ts'
export type { Requires, Resolution } from './schemas/requires.ts'
export type { Issue, Review, SkillRequest } from './schemas/review.ts'
export type {
  Downloads,
  OwnSkill,
  Recalled,
  SearchMatch,
  SearchFacets,
  SearchResult,
  Skill,
  SkillDetails,
  SkillVersion,
  Visibility,
  PathReason,
  Warning,
} from './schemas/skill.ts'
export type { Recall, Recalls } from './schemas/recall.ts'
export type { Passage, Similarity, SimilarityMatch } from './schemas/similarity.ts'
export type { Delivery, DeliveryDetails, Webhook } from './schemas/webhook.ts'
export { scopes, type Scope } from './scopes.ts'
export { memberRoles, rightsByRole, rolesWith, teamRoles, type MemberRole, type Right, type TeamRole } from './roles.ts'
export { matchesExactly, matchesPattern } from './matches-pattern.ts'
export { requirableFields, type Policy, type PolicyRefusal } from './schemas/policy.ts'
export type { Member, Organisation, Team } from './schemas/organisation.ts'
export { PublisherIdentity, type TrustedPublisher } from './schemas/trusted-publisher.ts'
export { ciServices } from './ci-services.ts'
export type { LoadedMetadata, LoadedSkill, Omission, ToolDefinition } from './schemas/loading.ts'
export { loadLevels, type LoadLevel } from './load-levels.ts'
export {
  countListedCharacters,
  findClientProblems,
  reportClient,
  skillClients,
  standardKeys,
  type ClientReport,
  type SkillClient,
} from './skill-clients.ts'
export {
  differenceInterval,
  toEffectText,
  toPercent,
  toPoints,
  toRateText,
  wilsonInterval,
  type DifferenceInterval,
  type PassCounts,
  type RateInterval,
} from './statistics.ts'
export { toTimestamp } from './timestamp.ts'
export {
  compareVersions,
  isOfferedVersion,
  isVersion,
  nextPatch,
  parseVersion,
  toVersionSortKey,
  type VersionParts,
} from './versions.ts'
export {
  fileRoles,
  polarities,
  risks,
  scoreRanges,
  severities,
  signals,
  toScoreVerdict,
  verdicts,
  verdictWords,
} from './schemas/security.ts'
export type { SarifLog, ScanFinding, ScanReport, Security } from './schemas/security.ts'
export { cutList, escapeJson, toJsonLine, toLogText, toOneLine, toPlainText } from './terminal-text.ts'
export { toMarkedText, toVisibleText } from './visible-text.ts'
export { entriesOf, isOneOf, keysOf, toRecord } from './typed-names.ts'
export { withoutUndefined } from './without-undefined.ts'

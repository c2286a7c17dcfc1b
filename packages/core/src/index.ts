import './kernel/check-node.ts'
export { type PolicyAction, policyActions, type ScanPolicy } from './catalogue/context/scan-policy.ts'
export type { OpinionAnswer, OpinionService, OpinionSource } from './catalogue/inspecting/opinion-service.ts'
export type { OpinionQuestion } from './catalogue/context/ports.ts'
export type { SecondOpinionOptions } from './catalogue/skills/second-opinion.ts'
export type { NameResolver } from './http/name-resolver.ts'
export type { OutgoingOptions } from './http/outgoing.ts'
export type { CallOptions } from './kernel/call-options.ts'
export { type Caller, guest, type Guest, systemCaller, type UserCaller } from './kernel/caller.ts'
export { type Clock, systemClock } from './kernel/clock.ts'
export { secretKeyBytes } from './kernel/secrets.ts'
export type { ImportOptions, ImportProgress } from './embedding/import-folder.ts'
export type { ImportSummary } from './embedding/run-import.ts'
export type { SkillEvent, SkillEventOptions } from './embedding/skill-events.ts'
export { localApi } from './local-api.ts'
export { openSkills, type Skills, type SkillsOptions } from './open-skills.ts'
export type { VerifierKey } from './log/signing-keys.ts'
export type { Metric } from './operator/metric.ts'
export { openRegistry, type Registry } from './registry.ts'
export type { Mailer, MailMessage } from './webhooks/mail-notices.ts'
export type { RegistryExtension, RegistryOptions } from './operator/registry-options.ts'
export { isRegistryError, RegistryError, type ErrorCode } from '@skillstead/protocol'
export type {
  Content,
  LoadedSkill,
  Pack,
  RegistryApi,
  SearchResult,
  Skill,
  SkillDetails,
  SkillVersion,
} from '@skillstead/protocol'
export type { BucketOptions } from './storage/bucket/s3-objects.ts'
export type { EmbeddingsOptions } from './search/embeddings-reranker.ts'
export type { Reranker, RerankText } from './search/reranker.ts'

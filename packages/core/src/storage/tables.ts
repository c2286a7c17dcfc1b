import type { Selectable } from 'kysely'
import { accountTables } from './schema/accounts-tables.ts'
import { catalogueTables } from './schema/catalogue-tables.ts'
import type { RowsOf } from './schema/columns.ts'
import { communityTables } from './schema/community-tables.ts'
import { governanceTables } from './schema/governance-tables.ts'
import { logTables } from './schema/log-tables.ts'

/** The columns of all tables of core. */
export const tables = {
  ...accountTables,
  ...catalogueTables,
  ...communityTables,
  ...governanceTables,
  ...logTables,
}

/**
 * The row types of all tables, the same on both databases: times are milliseconds since 1970, flags 0 or 1, structured
 * values JSON text.
 */
export interface Tables extends RowsOf<typeof tables> {}

export { parseJson } from './schema/columns.ts'
export type { VersionMetadata } from './schema/catalogue-tables.ts'

export type AgentRow = Tables['agents']
export type AgentReviewRow = Tables['agent_reviews']
export type AgentSkillRow = Tables['agent_skills']
export type ApiKeyRow = Tables['api_keys']
export type CopyReportRow = Tables['copy_reports']
export type DmcaCaseRow = Tables['dmca_cases']
export type EvaluationRow = Tables['evaluations']
export type ExternalSkillRow = Tables['external_skills']
export type QuarantineItemRow = Selectable<Tables['quarantine_items']>
export type IssueRow = Tables['issues']
export type OutboxRow = Tables['outbox']
export type PackRow = Tables['packs']
export type ReportRow = Tables['reports']
export type RequestRow = Tables['requests']
export type ReviewRow = Tables['reviews']
export type ScanRow = Tables['scans']
export type SessionRow = Tables['sessions']
export type ShareRow = Tables['shares']
export type SignInRow = Selectable<Tables['sign_ins']>
export type SigningKeyRow = Tables['signing_keys']
export type SkillRow = Selectable<Tables['skills']>
export type SkillDocumentRow = Tables['skill_documents']
export type SkillTable = Tables['skills']
export type StandingRow = Tables['standings']
export type TrendRow = Tables['trends']
export type TrustedPublisherRow = Tables['trusted_publishers']
export type AuditRow = Selectable<Tables['audit']>
export type UserRow = Selectable<Tables['users']>
export type VerificationRow = Tables['verifications']
export type VersionRow = Tables['versions']
export type WebhookRow = Tables['webhooks']

export type AgentActionType = Tables['agent_activity']['type']
export type BlobEncoding = Tables['blobs']['encoding']
export type ChangeKind = Tables['changes']['kind']
export type DmcaStatus = DmcaCaseRow['status']
export type SkillState = SkillRow['state']

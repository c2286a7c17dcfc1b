import type { Generated, Selectable } from 'kysely'
import type { RowsOf } from './schema/columns.ts'
import type { accountTables } from './schema/accounts-tables.ts'
import type { catalogueTables } from './schema/catalogue-tables.ts'
import type { communityTables } from './schema/community-tables.ts'
import type { governanceTables } from './schema/governance-tables.ts'
import type { handoverTables } from './schema/handover-tables.ts'
import type { opinionTables } from './schema/opinion-tables.ts'
import type { logTables } from './schema/log-tables.ts'
import type { usageTables } from './schema/usage-tables.ts'
import type { webhookTables } from './schema/webhooks-tables.ts'

/**
 * The row types of all tables, the same on both databases: times are milliseconds since 1970, flags 0 or 1, structured
 * values JSON text. They follow from the tables of the first release; the columns of later migrations are added here.
 */
export interface Tables
  extends
    RowsOf<typeof accountTables>,
    RowsOf<typeof catalogueTables>,
    RowsOf<typeof communityTables>,
    RowsOf<typeof governanceTables>,
    RowsOf<typeof handoverTables>,
    RowsOf<typeof logTables>,
    RowsOf<typeof opinionTables>,
    RowsOf<typeof usageTables>,
    RowsOf<typeof webhookTables> {
  skills: RowsOf<typeof catalogueTables>['skills'] & {
    /** 1 if lists contain the skill, which triggers compute: it is live, and has a version to show or is a stub. */
    listed: Generated<number>
  }
  version_access: RowsOf<typeof catalogueTables>['version_access'] & {
    /** The parts that later versions are compared with, as JSON. Null until a rescan has read them. */
    outline: string | null
  }
  quarantine_items: RowsOf<typeof governanceTables>['quarantine_items'] & {
    /** The verdict on what the version changes, as JSON. */
    change: string | null
  }
  api_keys: RowsOf<typeof accountTables>['api_keys'] & Made
  shares: RowsOf<typeof catalogueTables>['shares'] & Made
}

interface Made {
  /** Id of the key that made the row. Null for rows that the operator made, or a guest or an older node. */
  made_by: string | null
}

export type AgentRow = Tables['agents']
export type AgentReviewRow = Tables['agent_reviews']
export type AgentSkillRow = Tables['agent_skills']
export type ApiKeyRow = Tables['api_keys']
export type CopyReportRow = Tables['copy_reports']
export type DmcaCaseRow = Tables['dmca_cases']
export type ExternalSkillRow = Tables['external_skills']
export type QuarantineItemRow = Tables['quarantine_items']
export type IssueRow = Tables['issues']
export type OutboxRow = Tables['outbox']
export type PackRow = Tables['packs']
export type ReportRow = Tables['reports']
export type RequestRow = Tables['requests']
export type ReviewRow = Tables['reviews']
export type ScanRow = Tables['scans']
export type ShareRow = Tables['shares']
export type SignInRow = Selectable<Tables['sign_ins']>
export type SigningKeyRow = Tables['signing_keys']
export type SkillRow = Selectable<Tables['skills']>
export type SkillDocumentRow = Tables['skill_documents']
export type SkillTable = Tables['skills']
export type StandingRow = Tables['standings']
export type TrendRow = Tables['trends']
export type UserRow = Tables['users']
export type VerificationRow = Tables['verifications']
export type VersionRow = Tables['versions']
export type WebhookRow = Tables['webhooks']

export type AgentActionType = Tables['agent_activity']['type']
export type BlobEncoding = Tables['blobs']['encoding']
export type ChangeKind = Tables['changes']['kind']
export type DmcaStatus = DmcaCaseRow['status']
export type SkillState = SkillRow['state']

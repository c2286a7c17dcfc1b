import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { Id, SkillRef, Term, Timestamp, pageLimit, page, pageFields, boundedText } from '../schemas/fields.ts'
import {
  CopyReport,
  ModeratedSkill,
  Moderation,
  NamedCopyReport,
  Report,
  copyReportStatuses,
  moderationStates,
  reportKinds,
  reportStatuses,
} from '../schemas/moderation.ts'

const name = { name: SkillRef }

/** Reports of skills and copied skills, decisions of administrators, and appeals. */
export const moderationEndpoints = toEndpoints('Moderation', {
  reportCopy: {
    auth: 'key',
    scope: 'manage',
    status: 201,
    summary: 'Report a skill as a copy of another',
    input: v.strictObject({ ...name, originalSkillId: Term, evidence: boundedText(10_000) }),
    output: CopyReport,
  },
  reportSkill: {
    auth: 'none',
    scope: 'manage',
    status: 202,
    summary: 'Report a skill to the administrators',
    allowances: ['report', 'reports'],
    input: v.strictObject({ ...name, reason: boundedText(100), details: v.optional(boundedText(4000, 0), '') }),
    output: v.object({ id: Id, status: v.literal('open'), createdAt: Timestamp }),
  },
  appealModeration: {
    auth: 'key',
    scope: 'manage',
    status: 201,
    summary: 'Appeal a decision of the administrators to flag or hide your skill',
    input: v.strictObject({ ...name, statement: boundedText(10_000) }),
    output: Report,
  },
  getModeration: {
    auth: 'key',
    summary: 'Show the moderation state of a skill, for its owner and administrators',
    input: v.object(name),
    output: Moderation,
  },
  moderateSkill: {
    auth: 'admin',
    scope: 'manage',
    summary: 'Flag or hide a skill, or restore it',
    input: v.strictObject({ ...name, state: v.picklist(moderationStates), reason: boundedText(4000, 0) }),
    output: Moderation,
  },
  listModerated: {
    auth: 'admin',
    scope: 'manage',
    summary: 'List the skills that administrators flagged or hid, latest decision first',
    input: v.object({ state: v.optional(v.picklist(['flagged', 'hidden'])), page, limit: pageLimit() }),
    output: v.object({ skills: v.array(ModeratedSkill), ...pageFields }),
  },
  listReports: {
    auth: 'admin',
    scope: 'manage',
    summary: 'List the reports of skills and the appeals of their owners, oldest first',
    input: v.object({
      status: v.optional(v.picklist(reportStatuses)),
      kind: v.optional(v.picklist(reportKinds)),
      page,
      limit: pageLimit(),
    }),
    output: v.object({ reports: v.array(Report), ...pageFields }),
  },
  decideReport: {
    auth: 'admin',
    scope: 'manage',
    summary: 'Decide a report (upheld hides the skill) or an appeal (upheld restores it)',
    input: v.strictObject({
      id: Term,
      status: v.picklist(['upheld', 'dismissed']),
      note: v.optional(boundedText(4000, 0), ''),
    }),
    output: Report,
  },
  listCopyReports: {
    auth: 'admin',
    scope: 'manage',
    summary: 'List the reports of copies, oldest first',
    input: v.object({ status: v.optional(v.picklist(copyReportStatuses)), page, limit: pageLimit() }),
    output: v.object({ copyReports: v.array(NamedCopyReport), ...pageFields }),
  },
  decideCopyReport: {
    auth: 'admin',
    scope: 'manage',
    summary: 'Confirm or dismiss a report of a copy',
    input: v.strictObject({
      id: Term,
      status: v.picklist(['confirmed', 'dismissed']),
      note: v.optional(boundedText(4000, 0), ''),
    }),
    output: CopyReport,
  },
})

import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { Id, SkillRef, Term, pageLimit, page, pageFields, boundedText } from '../schemas/fields.ts'
import { DmcaCase, counterNoticeFields, dmcaStatuses, noticeFields } from '../schemas/dmca.ts'

const id = { id: Term }

/** Takedowns (docs/api.md#takedowns). */
export const dmcaEndpoints = toEndpoints('DMCA', {
  submitDmca: {
    auth: 'none',
    status: 201,
    summary: 'Submit a takedown notice for a skill',
    allowances: ['takedown'],
    input: v.strictObject({
      skillName: SkillRef,
      ...noticeFields,
    }),
    output: v.object({ ...DmcaCase.entries, caseToken: v.optional(v.string()) }),
  },
  getDmca: {
    auth: 'none',
    summary: 'Show the state of a takedown case',
    input: v.object(id),
    output: DmcaCase,
  },
  submitCounterNotice: {
    auth: 'none',
    status: 201,
    summary: 'Submit a counter-notice to a takedown',
    allowances: ['takedown'],
    input: v.strictObject({
      ...id,
      ...counterNoticeFields,
    }),
    output: DmcaCase,
  },
  listDmca: {
    auth: 'admin',
    scope: 'manage',
    summary: 'List takedown cases',
    input: v.object({ status: v.optional(v.picklist(dmcaStatuses)), page, limit: pageLimit() }),
    output: v.object({ cases: v.array(DmcaCase), ...pageFields }),
  },
  updateDmca: {
    auth: 'admin',
    scope: 'manage',
    summary: 'Decide a takedown case',
    input: v.strictObject({
      ...id,
      status: v.picklist(dmcaStatuses),
      note: v.optional(boundedText(4000, 0), ''),
      /** The counter-notice to confirm; required if several counter-notices of the case are unconfirmed. */
      counterNoticeId: v.optional(Id),
    }),
    output: DmcaCase,
  },
})

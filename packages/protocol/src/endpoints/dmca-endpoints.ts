import * as v from 'valibot'
import type { Endpoints } from '../endpoint.ts'
import { Id, SkillRef, Term, limit, page, pageFields, text } from '../schemas/fields.ts'
import { DmcaCase, counterNoticeFields, dmcaStatuses, noticeFields } from '../schemas/dmca.ts'

const id = { id: Term }

/** Takedowns (specification 4.7). */
export const dmcaEndpoints = {
  submitDmca: {
    method: 'POST',
    path: '/dmca',
    auth: 'none',
    status: 201,
    tag: 'DMCA',
    summary: 'Submit a takedown notice for a skill',
    allowances: ['takedown'],
    input: v.strictObject({
      skillName: SkillRef,
      ...noticeFields,
    }),
    output: v.object({ ...DmcaCase.entries, caseToken: v.optional(v.string()) }),
  },
  getDmca: {
    method: 'GET',
    path: '/dmca/:id',
    auth: 'none',
    tag: 'DMCA',
    summary: 'Show the state of a takedown case',
    input: v.object(id),
    output: DmcaCase,
  },
  submitCounterNotice: {
    method: 'POST',
    path: '/dmca/:id/counter-notice',
    auth: 'none',
    status: 201,
    tag: 'DMCA',
    summary: 'Submit a counter-notice to a takedown',
    allowances: ['takedown'],
    input: v.strictObject({
      ...id,
      ...counterNoticeFields,
    }),
    output: DmcaCase,
  },
  listDmca: {
    method: 'GET',
    path: '/dmca',
    auth: 'admin',
    scope: 'manage',
    tag: 'DMCA',
    summary: 'List takedown cases',
    input: v.object({ status: v.optional(v.picklist(dmcaStatuses)), page, limit: limit() }),
    output: v.object({ cases: v.array(DmcaCase), ...pageFields }),
  },
  updateDmca: {
    method: 'PATCH',
    path: '/dmca/:id',
    auth: 'admin',
    scope: 'manage',
    tag: 'DMCA',
    summary: 'Decide a takedown case',
    input: v.strictObject({
      ...id,
      status: v.picklist(dmcaStatuses),
      note: v.optional(text(4000, 0), ''),
      /** The counter-notice to confirm; required if more than one is pending. */
      counterNoticeId: v.optional(Id),
    }),
    output: DmcaCase,
  },
} as const satisfies Endpoints

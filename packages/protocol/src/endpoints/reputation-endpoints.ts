import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { VerificationMethod } from '../schemas/account.ts'
import { Term, pageLimit, page, pageFields, boundedText } from '../schemas/fields.ts'
import { ListedVerification, Reputation, Verification, verificationStatuses } from '../schemas/reputation.ts'

const username = { username: Term }

/** Reputation and the verification of authors (docs/api.md#reputation). */
export const reputationEndpoints = {
  ...toEndpoints('Reputation', {
    getReputation: {
      auth: 'none',
      summary: "Show an author's reputation",
      input: v.object(username),
      output: Reputation,
    },
    getLeaderboard: {
      auth: 'none',
      summary: 'List the authors with the highest reputation',
      input: v.object({ page, limit: pageLimit(10) }),
      output: v.object({ entries: v.array(Reputation), ...pageFields }),
    },
    verifyAuthor: {
      auth: 'key',
      scope: 'manage',
      status: 202,
      summary: 'Request the verification of your own account',
      allowances: ['verification'],
      input: v.strictObject({ ...username, method: VerificationMethod, proof: boundedText(1000) }),
      output: Verification,
    },
    listOwnVerifications: {
      auth: 'key',
      summary: 'List your own verifications, newest first',
      input: v.object({ ...username, page, limit: pageLimit() }),
      output: v.object({ verifications: v.array(ListedVerification), ...pageFields }),
    },
  }),
  ...toEndpoints('Administration', {
    listVerifications: {
      auth: 'admin',
      scope: 'manage',
      summary: 'List verifications, oldest first',
      input: v.object({
        status: v.optional(v.picklist(verificationStatuses)),
        method: v.optional(VerificationMethod),
        page,
        limit: pageLimit(),
      }),
      output: v.object({ verifications: v.array(ListedVerification), ...pageFields }),
    },
    decideVerification: {
      auth: 'admin',
      scope: 'manage',
      summary: 'Decide a manual verification, or revoke one',
      input: v.strictObject({
        id: Term,
        status: v.picklist(['verified', 'rejected']),
        note: v.optional(boundedText(4000, 0), ''),
      }),
      output: ListedVerification,
    },
  }),
}

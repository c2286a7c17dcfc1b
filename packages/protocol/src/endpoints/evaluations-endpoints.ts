import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { Evaluation, evaluationResult } from '../schemas/evaluation.ts'
import { Digest, NoContent, page, pageFields, pageLimit, SkillRef, Username, Version } from '../schemas/fields.ts'

const version = { name: SkillRef, version: Version }

/** Results of evaluations of versions (docs/evaluations.md). */
export const evaluationEndpoints = toEndpoints('Evaluations', {
  listEvaluations: {
    auth: 'none',
    summary: 'List the results of evaluations of a version, the last posted first',
    input: v.object({ ...version, page, limit: pageLimit() }),
    output: v.object({ evaluations: v.array(Evaluation), ...pageFields }),
  },
  createEvaluation: {
    auth: 'key',
    scope: 'publish',
    status: [201, 200],
    summary: 'Post the result of an evaluation of a version, or a later one in place of yours',
    allowances: ['evaluation', 'replacement'],
    input: v.strictObject({
      ...version,
      /** The digest of the version that was evaluated. */
      digest: Digest,
      ...evaluationResult,
    }),
    output: Evaluation,
  },
  deleteEvaluation: {
    auth: 'key',
    scope: 'publish',
    status: 204,
    summary: 'Withdraw your result, or any as an administrator',
    input: v.strictObject({ ...version, username: Username }),
    output: NoContent,
  },
})

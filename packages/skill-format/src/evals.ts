/** Test cases of skills, as a separate entry point: few programs run them. */
export type { CaseFile, CaseProblem, CheckTarget, EvalCase, EvalCheck } from './evals/eval-case.ts'
export { readEvalCases, toProblemText } from './evals/read-cases.ts'

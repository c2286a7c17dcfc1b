/** Test cases of skills: a separate entry point, because few programs run them. */
export type { CaseFile, CaseProblem, CheckTarget, EvalCase, EvalCheck } from './evals/eval-case.ts'
export { readEvalCases, toProblemText } from './evals/read-cases.ts'

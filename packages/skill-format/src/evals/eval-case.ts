/** Where a check looks: the last message of the agent, the files that it made, or one file of the run's folder. */
export type CheckTarget = 'last_message' | 'files' | { readonly file: string }

/** A check of a finished run. */
export type EvalCheck = { readonly name: string } & (
  | { readonly kind: 'contains' | 'not_contains' | 'exact'; readonly text: string; readonly target: CheckTarget }
  /** `count`: the number of matches that passes. Default: at least one. 0 for a pattern that must not match. */
  | {
      readonly kind: 'regex'
      readonly pattern: string
      readonly flags: string
      readonly count?: number
      readonly target: CheckTarget
    }
  | { readonly kind: 'json_schema'; readonly schema: object | boolean; readonly target: CheckTarget }
  /** `path` is a file of the skill, which is run in the folder of the run. */
  | { readonly kind: 'script'; readonly path: string }
  /** `pattern` is a glob of files that the agent made. */
  | { readonly kind: 'file_exists'; readonly pattern: string; readonly exists: boolean }
  /** An expectation in words, for a judge. */
  | { readonly kind: 'text'; readonly text: string; readonly target: CheckTarget }
  /** A check that cannot be decided from what a run leaves, with the reason as a sentence. */
  | { readonly kind: 'unseen'; readonly reason: string }
)

/** A test case of a skill: a prompt, and checks of what an agent makes of it. */
export interface EvalCase {
  /** Unique in the skill. */
  readonly id: string
  readonly prompt: string
  /** Files of the skill that the run's folder gets, with their path there. */
  readonly files: readonly { readonly path: string; readonly to: string }[]
  /** The path of a script in the skill, which prepares the run's folder. */
  readonly scaffold?: string
  /** Environment variables of the run; each name begins with `EVAL_`. */
  readonly env: Readonly<Record<string, string>>
  readonly timeoutSeconds?: number
  readonly checks: readonly EvalCheck[]
}

/** A fault in the files of cases: a sentence about `path`, with the 1-based line where that is known. */
export interface CaseProblem {
  readonly path: string
  readonly line?: number
  readonly message: string
}

/** A file of the skill; without `bytes` if it could not be read. */
export interface CaseFile {
  readonly path: string
  readonly bytes?: Uint8Array
}

/** Limits of the files of cases. */
export const caseLimits = {
  casesMax: 1000,
  checksMax: 100,
  filesMax: 100,
  promptCharactersMax: 64 * 1024,
  textCharactersMax: 16 * 1024,
  patternCharactersMax: 2000,
  documentBytesMax: 1024 * 1024,
  timeoutSecondsMax: 3600,
} as const

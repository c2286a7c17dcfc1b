import type { LoadLevel } from '@skillstead/skill-format/loading'

export interface LoadOptions {
  /** How much of the skill: `full` unless it is said. */
  readonly level?: LoadLevel
  /** The latest unless it is said. */
  readonly version?: string
  /** What the loaded skill may cost as JSON, in tokens of `o200k_base`. */
  readonly maxTokens?: number
  /** Titles of sections to keep first where not all fit. */
  readonly priority?: readonly string[]
  /** Ends the wait. */
  readonly signal?: AbortSignal
}

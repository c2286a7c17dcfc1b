import type { LoadLevel } from '@skillstead/skill-format/loading'

export interface LoadOptions {
  /** The level to load. Default: `full`. */
  readonly level?: LoadLevel
  /** The version. Default: the latest. */
  readonly version?: string
  /** Maximum size of the loaded skill as JSON, in tokens of `o200k_base`. */
  readonly maxTokens?: number
  /** Titles of sections to include first if not all of them fit. */
  readonly priority?: readonly string[]
  /** Aborts the call. */
  readonly signal?: AbortSignal
}

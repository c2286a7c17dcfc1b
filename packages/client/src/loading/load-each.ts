import type { Input, endpoints } from '@skillstead/protocol'
import type { LoadedSkill, LoadLevel } from '@skillstead/skill-format/loading'

/** A skill to load: its name, or its name with options that override the options of `loadMany`. */
export type WantedSkill = string | ({ readonly name: string } & Omit<LoadOptions, 'signal'>)

/** Options of `loadMany`. */
export interface LoadManyOptions extends LoadOptions {
  /** Handles the error of one skill, so that the other skills are still loaded. */
  readonly onError?: (name: string, error: unknown) => void
}

const atOnceMax = 8

/** Loads several skills, up to eight concurrently. */
export async function loadEach(
  load: (name: string, options?: LoadOptions) => Promise<LoadedSkill>,
  skills: readonly WantedSkill[],
  { onError, signal, ...common }: LoadManyOptions = {},
): Promise<LoadedSkill[]> {
  const ending = new AbortController()
  const all = { ...common, signal: signal ? AbortSignal.any([signal, ending.signal]) : ending.signal }
  const loaded: (LoadedSkill | undefined)[] = []
  const left = skills.entries()

  async function work(): Promise<void> {
    for (const [place, skill] of left) {
      const { name, ...own } = typeof skill === 'string' ? { name: skill } : skill
      try {
        loaded[place] = await load(name, { ...all, ...own })
      } catch (error) {
        if (!onError || all.signal.aborted) throw error
        onError(name, error)
      }
    }
  }

  try {
    await Promise.all(Array.from({ length: Math.min(atOnceMax, skills.length) }, work))
  } finally {
    ending.abort()
  }
  return loaded.filter((skill) => skill !== undefined)
}

/** Options of `load`. */
export interface LoadOptions {
  /** The level to load. Default: `full`. */
  readonly level?: LoadLevel
  /** The version. Default: the latest. */
  readonly version?: string
  /** Maximum size of the loaded skill as JSON, in tokens of `o200k_base`. */
  readonly maxTokens?: number
  /** Titles of the sections to include first if not all sections fit. */
  readonly priority?: readonly string[]
  /** Aborts the call. */
  readonly signal?: AbortSignal
}

/** Options of `search`: those of `POST /search`. */
export interface SearchOptions extends Omit<Input<(typeof endpoints)['searchByNeed']>, 'q'> {
  /** Aborts the call. */
  readonly signal?: AbortSignal
}

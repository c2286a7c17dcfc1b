import type { Registry, Tell } from '@skillstead/core/internal'

/** One thing that was looked at. */
export interface Finding {
  readonly name: string
  readonly ok: boolean
  /** A sentence for the operator. */
  readonly detail: string
  /** Whether `doctor --repair` puts it right: what is wrong can be computed anew from what is not. */
  readonly repairable?: true
}

/** What came of a look, before it has its name. */
export type Outcome = Omit<Finding, 'name'>

/** One look at a registry, and how what it finds is put right where that can be computed. */
export interface Check {
  readonly name: string
  run(registry: Registry, tell: Tell, faults: Faults): Promise<Outcome>
  repair?(registry: Registry): Promise<void>
}

/** How many faults of one kind are spelt out. */
const toldMax = 3
/** More than so many of a kind are not counted. */
const keptMax = 10_000

/** Faults as they are found: the first are told, the others counted. */
export class Faults {
  readonly #sentences = new Set<string>()
  readonly #believed: ReadonlySet<string> | undefined

  /** `confirming`: what another look found; nothing else is taken for a fault. */
  constructor(confirming?: Faults) {
    this.#believed = confirming && confirming.#sentences
  }

  /** A whole sentence. */
  add(sentence: string): void {
    const isBelieved = this.#believed?.has(sentence) ?? true
    if (isBelieved && this.#sentences.size < keptMax) this.#sentences.add(sentence)
  }

  get isEmpty(): boolean {
    return this.#sentences.size === 0
  }

  /** `sound` where there are none; otherwise the first of them and `advice`. */
  toOutcome(sound: string, advice: string, { repairable = false } = {}): Outcome {
    if (this.#sentences.size === 0) return { ok: true, detail: sound }
    const rest = this.#sentences.size - toldMax
    const more = rest > 0 ? ` And ${rest} more.` : ''
    const detail = `${[...this.#sentences].slice(0, toldMax).join(' ')}${more} ${advice}`
    return repairable ? { ok: false, detail, repairable } : { ok: false, detail }
  }
}

/** What to do about content that only a copy still has. */
export const restoreAdvice = 'Restore a backup.'
/** What to do about what can be computed anew. */
export const repairAdvice = 'Run doctor --deep --repair.'

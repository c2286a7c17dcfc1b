import type { CatalogueContext, Report } from '@skillstead/core/internal'
import { cutList } from '@skillstead/protocol'

/** The result of one check. */
export interface Finding {
  readonly name: string
  readonly ok: boolean
  /** A sentence for the operator. */
  readonly detail: string
  /** Whether `doctor --repair` can fix the faults by rebuilding derived data. */
  readonly repairable?: true
}

/** The result of a check, without its name. */
export type Outcome = Omit<Finding, 'name'>

/** A check of a registry, and its `repair` if the checked data can be rebuilt from other data. */
export interface Check {
  readonly name: string
  run(context: CatalogueContext, report: Report, faults: Faults): Promise<Outcome>
  repair?(context: CatalogueContext): Promise<void>
}

/** The number of faults of one check that are reported in full. */
const reportedMax = 3
/** The number of faults of one check that are counted; more are ignored. */
const countedMax = 10_000

/** Collects faults: the first are reported, the others only counted. */
export class Faults {
  readonly #sentences = new Set<string>()
  readonly #confirmed: ReadonlySet<string> | undefined

  /** `confirming`: the faults of an earlier run; of the new faults, only those that are among them are collected. */
  constructor(confirming?: Faults) {
    this.#confirmed = confirming && confirming.#sentences
  }

  /** Adds a fault, described by a whole sentence. */
  add(sentence: string): void {
    const isConfirmed = this.#confirmed?.has(sentence) ?? true
    if (isConfirmed && this.#sentences.size < countedMax) this.#sentences.add(sentence)
  }

  get isEmpty(): boolean {
    return this.#sentences.size === 0
  }

  /** The result: `sound`, or the first faults and `advice`. Omit advice if `doctor --repair` can rebuild the data. */
  toOutcome(sound: string, advice?: string): Outcome {
    if (this.#sentences.size === 0) return { ok: true, detail: sound }
    const { shown, more } = cutList([...this.#sentences], reportedMax)
    const detail = [...shown, ...(more > 0 ? [`And ${more} more.`] : []), advice ?? repairAdvice].join(' ')
    return advice === undefined ? { ok: false, detail, repairable: true } : { ok: false, detail }
  }
}

/** Advice for data that only a backup contains. */
export const restoreAdvice = 'Restore a backup.'
/** Advice for contents that the bucket lost: a backup of the database does not have them. */
export const lostAdvice =
  'Publish, import or sync the same files again: that stores them again. Or restore the objects in the bucket, and run doctor --deep.'
/** Advice for derived data that can be rebuilt. */
const repairAdvice = 'Run doctor --deep --repair.'

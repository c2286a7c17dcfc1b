/**
 * Slots of skills in an order that is kept: a changed slot is put in its place at the next read, in one pass over all of
 * them.
 */
export class KeptOrder {
  readonly #comesBefore: (slot: number, other: number) => boolean
  readonly #isUsed: (slot: number) => boolean
  readonly #changed = new Set<number>()
  #sorted = new Int32Array()

  constructor(comesBefore: (slot: number, other: number) => boolean, isUsed: (slot: number) => boolean) {
    this.#comesBefore = comesBefore
    this.#isUsed = isUsed
  }

  /** Notes that a slot was added or removed, or that its place may have changed. */
  change(slot: number): void {
    this.#changed.add(slot)
  }

  /** All used slots, in order. Valid until the next change; not to be written. */
  slots(): Int32Array {
    if (this.#changed.size === 0) return this.#sorted
    const comesBefore = this.#comesBefore
    const changed = Int32Array.from(this.#changed)
      .filter(this.#isUsed)
      .toSorted((a, b) => (comesBefore(a, b) ? -1 : 1))
    const unchanged = this.#sorted.filter((slot) => !this.#changed.has(slot))
    const merged = new Int32Array(unchanged.length + changed.length)
    let from = 0
    for (let i = 0; i < merged.length; i++) {
      const next = unchanged[i - from]
      const isChangedNext = from < changed.length && (next === undefined || comesBefore(changed[from]!, next))
      merged[i] = isChangedNext ? changed[from++]! : next!
    }
    this.#changed.clear()
    return (this.#sorted = merged)
  }
}

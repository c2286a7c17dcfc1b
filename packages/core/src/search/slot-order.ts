/** Slots of skills in an order: a changed slot is put in its place at the next read, in one pass over all slots. */
export class SlotOrder {
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
    const merged = new Int32Array(this.#sorted.length + changed.length)
    let size = 0
    let from = 0
    for (const slot of this.#sorted) {
      if (this.#changed.has(slot)) continue
      while (from < changed.length && comesBefore(changed[from]!, slot)) merged[size++] = changed[from++]!
      merged[size++] = slot
    }
    merged.set(changed.subarray(from), size)
    this.#changed.clear()
    return (this.#sorted = merged.slice(0, size + changed.length - from))
  }
}

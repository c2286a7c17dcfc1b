import type { Folded } from '../text/fold.ts'
import type { Crossing } from './pattern-parts.ts'

const breakMark = '\uE000'

/** The ends of lines and passages in one piece of text. Reused for each piece. */
export class Breaks {
  /** Positions of all ends, and of the ends of passages. */
  readonly #lines = new Places()
  readonly #passages = new Places()
  #size = 0

  /** Replaces the previous piece. */
  read({ text, size }: Pick<Folded, 'text' | 'size'>): void {
    this.#size = size
    this.#lines.size = 0
    this.#passages.size = 0
    for (let at = text.indexOf(breakMark); at !== -1; at = text.indexOf(breakMark, at + 1)) this.#passages.add(at)
    let passage = 0
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
      while (passage < this.#passages.size && this.#passages.at[passage]! < at) {
        this.#lines.add(this.#passages.at[passage++]!)
      }
      this.#lines.add(at)
    }
    while (passage < this.#passages.size) this.#lines.add(this.#passages.at[passage++]!)
  }

  /** Start of the line or passage that contains a position, or of the piece. */
  startOf(place: number, crosses: Crossing): number {
    if (crosses === 'passages') return 0
    const places = crosses === 'lines' ? this.#passages : this.#lines
    const before = places.countBefore(place)
    return before === 0 ? 0 : places.at[before - 1]! + 1
  }

  /** End of the line or passage. */
  endOf(place: number, crosses: Crossing): number {
    if (crosses === 'passages') return this.#size
    const places = crosses === 'lines' ? this.#passages : this.#lines
    const before = places.countBefore(place)
    return before === places.size ? this.#size : places.at[before]!
  }
}

class Places {
  at = new Uint32Array(1024)
  size = 0

  add(place: number): void {
    if (this.size === this.at.length) {
      const { at } = this
      this.at = new Uint32Array(2 * at.length)
      this.at.set(at)
    }
    this.at[this.size++] = place
  }

  countBefore(place: number): number {
    const { at } = this
    let low = 0
    let high = this.size
    while (low < high) {
      const middle = (low + high) >>> 1
      if (at[middle]! < place) low = middle + 1
      else high = middle
    }
    return low
  }
}

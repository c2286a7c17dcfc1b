import { TextFinder } from './text-finder.ts'

/** Finds in one pass which of some short texts occur in a text, ignoring case. */
export class ShortTextFinder {
  readonly #texts: readonly string[]
  #finder: TextFinder | undefined

  constructor(texts: readonly string[]) {
    this.#texts = texts
  }

  /** The short texts that occur in the code units of a text, as they were given. */
  in(units: Uint16Array): ReadonlySet<string> {
    const finder = (this.#finder ??= new TextFinder(this.#texts.map((each) => each.toLowerCase())))
    finder.find(units, units.length)
    return new Set(finder.found.map((number) => this.#texts[number]!))
  }
}

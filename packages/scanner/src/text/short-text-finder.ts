/** Finds which of some short texts occur in a text, ignoring case. */
export class ShortTextFinder {
  readonly #texts: readonly string[]

  constructor(texts: readonly string[]) {
    this.#texts = texts
  }

  /** The short texts that occur in the code units of a text, as they were given. */
  in(units: Uint16Array): ReadonlySet<string> {
    const text = Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString('utf16le').toLowerCase()
    return new Set(this.#texts.filter((each) => text.includes(each.toLowerCase())))
  }
}

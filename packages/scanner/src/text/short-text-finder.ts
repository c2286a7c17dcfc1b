import { AnchorTable, toAnchorTables } from './anchors.ts'

const chunkCharacters = 32_768

/** Finds in one pass which of some short texts occur in a text, ignoring case. */
export class ShortTextFinder {
  readonly #texts: readonly string[]
  readonly #longest: number
  #anchors: AnchorTable | undefined

  constructor(texts: readonly string[]) {
    this.#texts = texts
    this.#longest = Math.max(...texts.map(({ length }) => length))
  }

  /** The short texts that occur in the code units of a text, as they were given. */
  in(units: Uint16Array): ReadonlySet<string> {
    const anchors = (this.#anchors ??= new AnchorTable(toAnchorTables(this.#texts.map((each) => each.toLowerCase()))))
    const found = new Set<number>()
    for (let at = 0; at < units.length; at += chunkCharacters) {
      const chunk = units.subarray(at, at + chunkCharacters + this.#longest)
      anchors.find(chunk, chunk.length)
      for (let index = 0; index < anchors.size; index++) found.add(anchors.texts[index]!)
    }
    return new Set([...found].map((index) => this.#texts[index]!))
  }
}

/** A text that is read from its start to its end, and the place where that has come to. */
export class ShellText {
  at = 0
  readonly #text: string
  /** Quotes that nothing closes stand for themselves; once one is found, so do all after it. */
  readonly #unclosed = new Set<string>()

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.at >= this.#text.length
  }

  /** The next character, or one so far from it; undefined beyond the ends. */
  peek(offset = 0): string | undefined {
    return this.#text[this.at + offset]
  }

  startsWith(start: string): boolean {
    return this.#text.startsWith(start, this.at)
  }

  /** As much of the rest as is asked for. */
  ahead(length: number): string {
    return this.#text.slice(this.at, this.at + length)
  }

  /** What a sticky pattern finds right here, or so far from here. */
  match(pattern: RegExp, offset = 0): RegExpExecArray | null {
    pattern.lastIndex = this.at + offset
    return pattern.exec(this.#text)
  }

  /** So many characters, and goes past them. */
  take(length: number): string {
    const taken = this.ahead(length)
    this.at += length
    return taken
  }

  /** Whether the quote that is next has another to close it. */
  isClosed(quote: string): boolean {
    if (this.#unclosed.has(quote)) return false
    const isClosed = this.#text.includes(quote, this.at + 1)
    if (!isClosed) this.#unclosed.add(quote)
    return isClosed
  }

  /** What stands before the next such text, or all the rest, and goes to there. */
  takeUntil(end: string): string {
    const found = this.#text.indexOf(end, this.at)
    return this.take((found === -1 ? this.#text.length : found) - this.at)
  }

  /** The lines before one that is `end`, or all the rest, and goes past that. */
  takeLinesUntil(end: string): string {
    const begin = this.at
    while (!this.isAtEnd) {
      const lineStart = this.at
      const line = this.takeUntil('\n')
      this.at++
      if (line.trim() === end) return this.#text.slice(begin, lineStart)
    }
    return this.#text.slice(begin)
  }
}

/** A text that is read from start to end, with the current position. */
export class ShellText {
  at = 0
  readonly #text: string
  /** Unclosed quotes count as ordinary characters; once one is found, so do all after it. */
  readonly #unclosed = new Set<string>()

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.at >= this.#text.length
  }

  /** The character at the current position plus `offset`; undefined outside of the text. */
  peek(offset = 0): string | undefined {
    return this.#text[this.at + offset]
  }

  startsWith(start: string): boolean {
    return this.#text.startsWith(start, this.at)
  }

  /** Up to `length` characters ahead. */
  ahead(length: number): string {
    return this.#text.slice(this.at, this.at + length)
  }

  /** The match of a sticky pattern at the current position plus `offset`. */
  match(pattern: RegExp, offset = 0): RegExpExecArray | null {
    pattern.lastIndex = this.at + offset
    return pattern.exec(this.#text)
  }

  /** Takes `length` characters. */
  take(length: number): string {
    const taken = this.ahead(length)
    this.at += length
    return taken
  }

  /** Whether the next quote is closed later. */
  isClosed(quote: string): boolean {
    if (this.#unclosed.has(quote)) return false
    const isClosed = this.#text.includes(quote, this.at + 1)
    if (!isClosed) this.#unclosed.add(quote)
    return isClosed
  }

  /** Takes everything up to the next occurrence of a text, or the rest. */
  takeUntil(end: string): string {
    const found = this.#text.indexOf(end, this.at)
    return this.take((found === -1 ? this.#text.length : found) - this.at)
  }

  /** Takes the lines up to one that equals `end`, or the rest, and skips that line. */
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

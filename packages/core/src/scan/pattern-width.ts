/** The most characters that a match of a regular expression takes, `Infinity` where nothing bounds it. */
export function toWidth(source: string): number {
  const reader = new Reader(source)
  const width = reader.alternatives()
  if (!reader.isDone) throw new TypeError(`The pattern ${source} has a bracket too many.`)
  return width
}

/** What takes one character where no class or group does: an escape of any form, or the character itself. */
const atomPattern = /\\(?:u\{[\da-f]+\}|u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|k<[^>]*>|.)|[^]/iuy
const classPattern = /\[(?:\\[^]|[^\]\\])*\]/y
const groupPattern = /\((?:\?(?:(?<look><?[=!])|:|<[^>]*>|[a-z-]+:))?/y
const quantifierPattern = /(?:[*+]|\?|\{(?<least>\d+)(?<comma>,(?<most>\d*))?\})\??/y

/** Reads a pattern by the grammar of ECMA-262, 22.2.1, as far as widths go. */
class Reader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  get isDone(): boolean {
    return this.#at === this.#source.length
  }

  alternatives(): number {
    let widest = this.#sequence()
    while (this.#source[this.#at] === '|') {
      this.#at++
      widest = Math.max(widest, this.#sequence())
    }
    return widest
  }

  #sequence(): number {
    let width = 0
    while (!this.isDone && this.#source[this.#at] !== '|' && this.#source[this.#at] !== ')') {
      const one = this.#one()
      const times = this.#times()
      width += one === 0 || times === 0 ? 0 : one * times
    }
    return width
  }

  #one(): number {
    if (this.#read(classPattern)) return 1
    const group = this.#read(groupPattern)
    if (group) {
      const width = this.alternatives()
      this.#at++
      return group.groups!.look ? 0 : width
    }
    const [atom] = this.#read(atomPattern)!
    // A reference to a group may take as much as the group did.
    if (/^\\(?:k<|[1-9])/.test(atom)) return Infinity
    return ['^', '$', '\\b', '\\B'].includes(atom) ? 0 : 1
  }

  #times(): number {
    const found = this.#read(quantifierPattern)
    if (!found) return 1
    if (found[0].startsWith('?')) return 1
    const { least, comma, most } = found.groups!
    if (!least) return Infinity
    return comma ? Number(most || Infinity) : Number(least)
  }

  #read(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)
    if (found) this.#at = pattern.lastIndex
    return found
  }
}

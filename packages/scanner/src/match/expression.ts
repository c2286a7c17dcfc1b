import { toBeginningMask, type Beginnings } from './beginnings.ts'
import { readBeginnings } from './read-pattern.ts'

/** A part of a piece of text. */
export interface Slice {
  readonly text: string
  /** Its position in the piece. */
  readonly at: number
  /** Of the piece; undefined for text that was not folded. */
  readonly beginnings: Beginnings | undefined
}

/**
 * A regular expression that is compiled on first use, and tried only where its matches may begin: most are never used,
 * and most places of a text are ruled out by a few characters.
 */
export class Expression {
  readonly #source: string
  readonly #flags: string
  #mask: Uint32Array | undefined | null = null
  #sticky: RegExp | undefined
  #global: RegExp | undefined

  constructor(source: string, flags: string) {
    this.#source = source
    this.#flags = flags
  }

  /** The first position between two, the second exclusive, at which a match may begin; the second if there is none. */
  seek(beginnings: Beginnings | undefined, from: number, to: number): number {
    const mask = beginnings && this.#getMask()
    return mask ? beginnings.find(mask, from, to) : from
  }

  /** The first match at or after an offset. */
  exec({ text, at, beginnings }: Slice, from: number): RegExpExecArray | null {
    const mask = beginnings && this.#getMask()
    if (!mask) {
      const global = (this.#global ??= new RegExp(this.#source, `g${this.#flags}`))
      global.lastIndex = from
      return global.exec(text)
    }
    const to = at + text.length
    const first = from === 0 && to > at && beginnings.mayBegin(mask, at) ? at : beginnings.find(mask, at + from, to)
    for (let begin = first; begin < to; begin = beginnings.find(mask, begin + 1, to)) {
      const sticky = (this.#sticky ??= new RegExp(this.#source, `y${this.#flags}`))
      sticky.lastIndex = begin - at
      const found = sticky.exec(text)
      if (found) return found
    }
    return null
  }

  #getMask(): Uint32Array | undefined {
    if (this.#mask === null) this.#mask = toBeginningMask(readBeginnings(this.#source))
    return this.#mask
  }
}

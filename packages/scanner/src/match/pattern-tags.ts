import { compose, type Composer } from '../text/regex.ts'
import type { Pattern } from './rule.ts'

/**
 * A pattern of two expressions separated by `…`: the second follows the first within a number of characters, without a
 * stop in between. For anchors see `containing`.
 */
export function within(withinMax: number, stop: RegExp, anchors?: string | readonly string[]): Composer<Pattern> {
  return (strings, ...pieces) => {
    const [first, last] = compose(strings, pieces).split(/\s*…\s*/)
    const match = { first: new RegExp(first!), last: new RegExp(last!), stop, withinMax }
    return anchors ? { anchors: toList(anchors), match } : match
  }
}

/**
 * A pattern whose matches contain one of the anchors (see `Anchored`), which are an array or separated by `|`. It needs
 * them if no rare text can be derived from the expression, or if not everything that the expression matches is meant.
 */
export function containing(anchors: string | readonly string[]): Composer<Pattern> {
  return (strings, ...pieces) => ({ anchors: toList(anchors), match: new RegExp(compose(strings, pieces)) })
}

/**
 * A pattern of expressions separated by `…` that all match in one sentence, in any order (see `Together`), unless
 * another one matches in it.
 */
export function together(withinMax: number, stop: RegExp, unless: RegExp): Composer<Pattern> {
  return (strings, ...pieces) => {
    const all = compose(strings, pieces).split(/\s*…\s*/)
    return { all: all.map((source) => new RegExp(source)), stop, withinMax, unless }
  }
}

const toList = (words: string | readonly string[]) =>
  typeof words === 'string' ? words.replace(lineBreak, '').split('|') : words

const lineBreak = /\s*\n\s*/g

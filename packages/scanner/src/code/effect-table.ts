import type { Effect } from './library.ts'
import { mix } from './values.ts'

/** Functions by the paths of libraries, or methods by name. */
export type EffectTable = readonly (readonly [name: string, effect: Effect])[]

/** The same effect for several names, separated by white space. */
export function fill(names: string, effect: Effect): EffectTable {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => [name, effect])
}

/** Reads a number from a text, in a base. */
export const readsNumber: Effect = ({ args: [text, base] }) => {
  if (text?.text === undefined) return text
  const number = parseInt(text.text, base?.number ?? 10)
  return Number.isNaN(number) ? mix([text]) : { number, facts: text.facts, made: text.made }
}

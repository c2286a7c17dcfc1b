import type { CodeFact } from '../reading.ts'

/** Stands for a part of a text that is only known when the script runs. */
export const unknownPart = '\uFFFC'

/** The value of a variable, word, file or stream of a shell script. */
export interface Value {
  readonly text: string
  /** The facts that the content of the value comes from. */
  readonly facts: readonly CodeFact[]
  /** The operations that computed the value, outermost first. */
  readonly made: readonly string[]
}

const charactersMax = 65_536
const factsMax = 24
const operationsMax = 6

export const empty: Value = { text: '', facts: [], made: [] }
export const unknown: Value = { text: unknownPart, facts: [], made: [] }

export function toShellValue(text: string): Value {
  return { text: text.slice(0, charactersMax), facts: [], made: [] }
}

export const isKnown = ({ text }: Value) => !text.includes(unknownPart)

/** Whether the value is certainly empty. */
export const isEmpty = ({ text, facts }: Value) => text === '' && facts.length === 0

/** The values one after the other. */
export function joinValues(values: readonly Value[], separator = ''): Value {
  if (values.length === 1) return values[0]!
  const text = values.map((value) => value.text).join(separator)
  return {
    text: text.slice(0, charactersMax),
    facts: uniteFacts(values.map(({ facts }) => facts)),
    made: [...new Set(values.flatMap(({ made }) => made))].slice(0, operationsMax),
  }
}

/** An unknown text that depends on the values. */
export function dependOn(values: readonly Value[]): Value {
  return { text: unknownPart, facts: uniteFacts(values.map(({ facts }) => facts)), made: [] }
}

export function withFacts(value: Value, facts: readonly CodeFact[]): Value {
  return facts.length === 0 ? value : { ...value, facts: uniteFacts([value.facts, facts]) }
}

/** The result of an operation on a value; `text` is undefined if the result is not known. */
export function transformValue(value: Value, operation: string, text: string | undefined): Value {
  if (text === undefined) return { text: unknownPart, facts: value.facts, made: [] }
  const made = [...new Set([operation, ...value.made])].slice(0, operationsMax)
  return { text: text.slice(0, charactersMax), facts: value.facts, made }
}

function uniteFacts(lists: readonly (readonly CodeFact[])[]): readonly CodeFact[] {
  const filled = lists.filter((list) => list.length > 0)
  if (filled.length < 2) return filled[0] ?? []
  return [...new Set(filled.flat())].slice(0, factsMax)
}

/** Marks a value from the output of a shell or another machine: a session, in which commands are sent and run. */
export const session = 'session'
/** Marks zeros or random bytes. */
export const noise = 'noise'
/** Marks a known text that was changed by a program whose output is not computed here. */
export const filtered = 'filter'
/** Operations that many scripts need: they do not count as hiding a text. */
const usual: ReadonlySet<string> = new Set([session, noise, 'slice', 'replacement'])

/** An operation that hides the text of a value from readers of the script; undefined if there is none. */
export function findHiding({ text, made }: Value): string | undefined {
  return made.find((operation) => !usual.has(operation) && (operation !== filtered || text === unknownPart))
}

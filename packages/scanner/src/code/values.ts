import type { CodeFact } from './reading.ts'
import type { Code } from './syntax.ts'

/** Stands for the unknown part of a text. */
export const unknownPart = '\ufffc'
/** Maximum number of characters of a computed text, of facts of a value, and of items of a list. */
export const textCharactersMax = 262_144
const factsMax = 16
export const itemsMax = 4096

/** The known properties of a value. */
export interface Value {
  /** A text, or bytes with one character each. */
  readonly text?: string
  readonly number?: number
  readonly items?: readonly Value[]
  /** The fields of an object or dictionary; all references to it share them. */
  readonly fields?: Map<string, Value>
  /** A part of a library: `os.system`; what a function returned: `requests.get()`. */
  readonly path?: string
  readonly closure?: Closure
  /** For a method or field: the object that has it, and its name. */
  readonly self?: Value
  readonly method?: string
  /** Whether the value is a class, whose fields are its methods. */
  readonly isClass?: true
  /** The facts about the code that produced the value, such as the read of a secret. */
  readonly facts: readonly CodeFact[]
  /** The operations that computed the text from literals. */
  readonly made: readonly string[]
}

export interface Closure {
  readonly code: Extract<Code, { type: 'function' }>
  readonly scope: Scope
  /** The object that has the function as a method. */
  owner?: Value
  calls: number
}

/** The variables of a function or module. */
export class Scope {
  readonly variables = new Map<string, Value>()
  readonly outer: Scope | undefined
  /** Names that belong to an outer scope, as `global` of Python declares. */
  readonly outside = new Set<string>()

  constructor(outer?: Scope) {
    this.outer = outer
  }

  find(name: string): Value | undefined {
    return this.variables.get(name) ?? this.outer?.find(name)
  }

  /** Defines a variable in this scope. */
  define(name: string, value: Value): void {
    if (this.outside.has(name)) this.outer?.set(name, value)
    else this.variables.set(name, value)
  }

  /** Assigns to a variable in the scope that defines it, or defines it in this scope if none does. */
  set(name: string, value: Value): void {
    const scope = this.#definedIn(name) ?? this
    scope.variables.set(name, value)
  }

  #definedIn(name: string): Scope | undefined {
    if (this.variables.has(name)) return this
    return this.outer && this.outer.#definedIn(name)
  }
}

export const nothing: Value = { facts: [], made: [] }

export function toTextValue(text: string, from: readonly Value[] = [], ...made: readonly string[]): Value {
  if (text.length > textCharactersMax) return mixValues(from)
  return { text, facts: joinFacts(from), made: joinMade(made, from) }
}

/** The operations `made`, with the operations of the values that the result is computed from. */
export function joinMade(made: readonly string[], from: readonly Value[]): readonly string[] {
  let all = made
  for (const one of from) {
    if (one.made.length > 0 && one.made !== all) all = all.length === 0 ? one.made : [...new Set([...all, ...one.made])]
  }
  return all
}

/** Whether an operation hides a text from a reader, and is not used for other reasons. */
export const isHiding = (operation: string) => operation !== 'concatenation' && operation !== 'replacement'

/** An unknown value that depends on the values. */
export function mixValues(values: readonly Value[]): Value {
  const facts = joinFacts(values)
  return facts.length === 0 ? nothing : { facts, made: [] }
}

/** The same value, with the facts of the values `from`. */
export function withFactsOf(value: Value, from: readonly Value[]): Value {
  const facts = joinFacts([value, ...from])
  return facts.length === value.facts.length ? value : { ...value, facts }
}

function joinFacts(values: readonly Value[]): readonly CodeFact[] {
  let all: readonly CodeFact[] = []
  for (const { facts } of values) {
    if (facts.length === 0 || facts === all) continue
    if (all.length === 0) all = facts
    else if (!facts.every((fact) => all.includes(fact))) all = [...new Set([...all, ...facts])].slice(0, factsMax)
  }
  return all
}

/** Maximum number of values that are examined inside of one value. */
const innerMax = 500

/** The facts of a value and of everything in it. */
export function gatherFacts(value: Value): readonly CodeFact[] {
  if (!value.items && !value.fields) return value.facts
  const seen = new Set([value])
  for (const { items, fields } of seen) {
    if (seen.size > innerMax) break
    for (const inner of items ?? []) seen.add(inner)
    for (const inner of fields?.values() ?? []) seen.add(inner)
  }
  return joinFacts([...seen])
}

/** The text of a value with marks for unknown parts. */
export function textOf(value: Value | undefined): string {
  if (value?.text !== undefined) return value.text
  return value?.number === undefined ? unknownPart : String(value.number)
}

/** The characters of a text with their codes; undefined if the text is not known. */
export function toCodes(value: Value, ...made: readonly string[]): Value[] | undefined {
  if (value.text === undefined) return undefined
  return Array.from(value.text, (one) => ({ ...toTextValue(one, [value], ...made), number: one.charCodeAt(0) }))
}

import type { Closure, Value } from './values.ts'

/** Longer lists and values deeper inside of others count as changed if they are not the same object. */
const comparedItemsMax = 16
const comparedDepthMax = 3

/** A value before it was replaced, in the variables of a scope, the fields of an object or the contents of files. */
interface Replaced {
  readonly values: ReadonlyMap<unknown, Value>
  readonly key: unknown
  readonly before: Value | undefined
  readonly scope: number
}

/**
 * Knows whether code changes what exists before it runs: variables, fields of objects, contents of files, and how often a
 * function was called.
 */
export class Changes {
  #numbers = 0
  /** The values that the watched code replaced, and the number of the oldest function that it called. */
  #replaced: Replaced[] | undefined
  #called = Infinity

  /** Returns the number of a new scope or function. */
  addNumber(): number {
    return ++this.#numbers
  }

  /** Notes a call of a function. */
  noteCall(number: number): void {
    this.#called = Math.min(this.#called, number)
  }

  /** Notes that a value is going to be replaced. Objects and files belong to scope 0. */
  note<Key>(values: ReadonlyMap<Key, Value>, key: Key, scope = 0): void {
    this.#replaced?.push({ values, key, before: values.get(key), scope })
  }

  /** Follows code, and returns whether it left a change. */
  watch(follow: () => void): boolean {
    const [outer, called, last] = [this.#replaced, this.#called, this.#numbers]
    const replaced: Replaced[] = []
    this.#replaced = replaced
    this.#called = Infinity
    follow()
    const isChanged = this.#called <= last || hasChanged(replaced, last)
    this.#called = Math.min(this.#called, called)
    this.#replaced = outer
    if (outer) for (const one of replaced) outer.push(one)
    return isChanged
  }
}

/** Whether a value differs from the first one that was replaced, in scopes up to one. */
function hasChanged(replaced: readonly Replaced[], last: number): boolean {
  const first = new Map<Replaced['values'], Map<unknown, Value | undefined>>()
  for (const { values, key, before, scope } of replaced) {
    if (scope > last) continue
    const known = first.get(values) ?? new Map<unknown, Value | undefined>()
    if (!known.has(key)) known.set(key, before)
    first.set(values, known)
  }
  for (const [values, known] of first) {
    for (const [key, before] of known) if (!isSame(before, values.get(key))) return true
  }
  return false
}

/** Whether two values are equal, as far as a short comparison shows. */
function isSame(one: Value | undefined, other: Value | undefined, depth = 0): boolean {
  if (one === other) return true
  if (!one || !other || depth > comparedDepthMax) return false
  const isInnerSame = (inner: Value | undefined, another: Value | undefined) => isSame(inner, another, depth + 1)
  return (
    one.text === other.text &&
    Object.is(one.number, other.number) &&
    one.fields === other.fields &&
    one.path === other.path &&
    one.method === other.method &&
    one.isClass === other.isClass &&
    areSameFunctions(one.closure, other.closure) &&
    areSame(one.facts, other.facts, Object.is) &&
    areSame(one.made, other.made, Object.is) &&
    areSame(one.items, other.items, isInnerSame) &&
    isInnerSame(one.self, other.self)
  )
}

/** A function that is defined again is the same, but has not been called. */
function areSameFunctions(one: Closure | undefined, other: Closure | undefined): boolean {
  return one === other || (one?.code === other?.code && one?.scope === other?.scope && one?.owner === other?.owner)
}

function areSame<T>(
  some: readonly T[] | undefined,
  others: readonly T[] | undefined,
  isEqual: (one: T, other: T) => boolean,
): boolean {
  if (some === others) return true
  if (!some || some.length !== others?.length || some.length > comparedItemsMax) return false
  return some.every((one, index) => isEqual(one, others[index]!))
}

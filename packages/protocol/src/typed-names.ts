/**
 * The own keys of an object as the type names them. Only for an object that is written in one place: another object may
 * have keys that its type does not name, and the returned type would be wrong.
 */
export function keysOf<T extends object>(given: T): (keyof T & string)[] {
  return Object.keys(given) as (keyof T & string)[]
}

/** The own keys of an object with their values; see {@link keysOf}. */
export function entriesOf<T extends object>(given: T): [keyof T & string, T[keyof T & string]][] {
  return Object.entries(given) as [keyof T & string, T[keyof T & string]][]
}

/** An object with a value for each of `keys`. */
export function toRecord<Key extends string, Value>(
  keys: readonly Key[],
  toValue: (key: Key) => Value,
): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, toValue(key)])) as Record<Key, Value>
}

/** Whether a value is one of `words`. */
export function isOneOf<Word extends string>(words: readonly Word[], value: unknown): value is Word {
  return words.some((word) => word === value)
}

type WithoutUndefined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/**
 * A copy of an object without its undefined fields: JSON would drop such fields, validation would reject them, and a
 * spread would overwrite other values with them.
 */
export function withoutUndefined<T extends object>(given: T): WithoutUndefined<T> {
  const fields = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(fields) as WithoutUndefined<T>
}

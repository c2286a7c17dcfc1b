/** A longer copy of a typed array: the length asked for, and at least twice what it was. */
export function grown<A extends Int32Array | Float64Array | Uint8Array>(array: A, length = 0): A {
  const larger = new (array.constructor as new (length: number) => A)(Math.max(length, array.length * 2))
  larger.set(array)
  return larger
}

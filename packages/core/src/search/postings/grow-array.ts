/** Copies a typed array into a larger one: at least `length`, and at least twice its size. */
export function growArray<A extends Int32Array | Float64Array | Uint16Array | Uint8Array>(array: A, length = 0): A {
  const larger = new (array.constructor as new (length: number) => A)(Math.max(length, array.length * 2))
  larger.set(array)
  return larger
}

/**
 * Returns `limit` slots from `offset` on, in descending order of their keys and then in ascending order of their ranks.
 * Reorders `slots` in place. A page near the front of many slots costs one pass and a small heap.
 */
export function topSlots(
  slots: Int32Array<ArrayBuffer>,
  keys: Float64Array,
  ranks: Int32Array,
  offset: number,
  limit: number,
): number[] {
  const end = Math.min(slots.length, offset + limit)
  if (offset >= end) return []
  const comesBefore = (a: number, b: number) => keys[a]! > keys[b]! || (keys[a] === keys[b] && ranks[a]! < ranks[b]!)
  const order = (a: number, b: number) => (comesBefore(a, b) ? -1 : 1)
  if (end > slots.length / 4) return Array.from(slots.toSorted(order).subarray(offset, end))
  for (let i = (end >> 1) - 1; i >= 0; i--) sinkSlot(slots, i, end, comesBefore)
  for (let i = end; i < slots.length; i++) {
    if (!comesBefore(slots[i]!, slots[0]!)) continue
    const out = slots[0]!
    slots[0] = slots[i]!
    slots[i] = out
    sinkSlot(slots, 0, end, comesBefore)
  }
  return Array.from(slots.subarray(0, end).toSorted(order).subarray(offset, end))
}

/** Restores the heap, whose root is the last in sort order. */
function sinkSlot(heap: Int32Array, from: number, end: number, comesBefore: (a: number, b: number) => boolean): void {
  const slot = heap[from]!
  let at = from
  for (;;) {
    let child = 2 * at + 1
    if (child >= end) break
    if (child + 1 < end && comesBefore(heap[child]!, heap[child + 1]!)) child++
    if (!comesBefore(slot, heap[child]!)) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = slot
}

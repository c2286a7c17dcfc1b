import { growArray } from './grow-array.ts'

/** Bytes of a list's first slice, link included. Each further slice is twice as long, up to the maximum. */
const sliceBytesMin = 8
const sliceBytesMax = 4096
const blockBits = 16
const blockBytes = 1 << blockBits
/**
 * Bytes at the end of a slice that link to the next one: its address, whose lowest bits are zero because of the lengths
 * of slices, plus the number of unused bytes in front of the link.
 */
const linkBytes = 4
const unusedMask = sliceBytesMin - 1
/** Maximum bytes of a posting: 5 for a distance of 32 bits, and 1 for the impact. */
const postingBytesMax = 6

/**
 * Many lists of postings that only grow, in shared blocks of memory. A posting is a distance (LEB128: 7 bits per byte,
 * the lowest first) and a byte. Each list is a chain of slices whose lengths double, as in Lucene's `ByteBlockPool`:
 * most lists are short, and a few are very long. No posting is divided between slices, so that readers decode the blocks
 * directly. A list is a number.
 *
 * @example
 * for (let isIn = lists.open(list); isIn; isIn = lists.next()) decode(lists.block, lists.at, lists.end)
 */
export class PostingLists {
  /** The slice that is read: from `at` to `end` in `block`. */
  block = new Uint8Array(0)
  at = 0
  end = 0
  #opened = 0
  /** Of the slice that is read: its length, its link, and whether it is the last one of its list. */
  #length = 0
  #link = 0
  #isLast = true
  readonly #blocks: Uint8Array<ArrayBuffer>[] = []
  /** The first address that no slice uses. */
  #free = 0
  /** By list: the address of its first slice, of its next byte, and of the link of its last slice. */
  #first = new Int32Array(1024)
  #next = new Int32Array(1024)
  #limit = new Int32Array(1024)
  /** By list: the length of its last slice. */
  #slice = new Int32Array(1024)
  #count = 0

  /** Bytes of memory. */
  get bytes(): number {
    return this.#blocks.length * blockBytes + this.#first.length * 16
  }

  /** Creates an empty list and returns its number: 0, 1, 2 and so on. */
  create(): number {
    const list = this.#count++
    if (list === this.#first.length) this.#grow()
    const address = this.#allocate(sliceBytesMin)
    this.#first[list] = address
    this.#setSlice(list, address, sliceBytesMin)
    return list
  }

  /** Appends a posting to a list. The distance is below 2^31. */
  append(list: number, distance: number, byte: number): void {
    const room = this.#limit[list]! - this.#next[list]!
    if (room < postingBytesMax && room < sliceLengthOf(distance) + 1) this.#extend(list, room)
    const next = this.#next[list]!
    const block = this.#blocks[next >>> blockBits]!
    let at = next & (blockBytes - 1)
    const start = at
    let rest = distance
    for (; rest > 127; rest >>>= 7) block[at++] = (rest & 127) | 128
    block[at++] = rest
    block[at++] = byte
    this.#next[list] = next + at - start
  }

  /** Opens the first slice of a list that has postings. Returns false if the list is empty. */
  open(list: number): boolean {
    this.#opened = list
    // The first slice is empty if the first posting is longer than `sliceBytesMin`.
    return this.#openSlice(this.#first[list]!, sliceBytesMin) || this.next()
  }

  /** Opens the next slice. Returns false after the last slice. */
  next(): boolean {
    if (this.#isLast) return false
    return this.#openSlice(this.#link & ~unusedMask, Math.min(this.#length * 2, sliceBytesMax))
  }

  #openSlice(address: number, length: number): boolean {
    const limit = address + length - linkBytes
    this.block = this.#blocks[address >>> blockBits]!
    this.at = address & (blockBytes - 1)
    this.#length = length
    this.#isLast = limit === this.#limit[this.#opened]!
    this.#link = this.#isLast ? 0 : readLink(this.block, limit & (blockBytes - 1))
    const end = this.#isLast ? this.#next[this.#opened]! : limit - (this.#link & unusedMask)
    this.end = this.at + end - address
    return end > address
  }

  /** Links the last slice, which ends with unused bytes, to a new slice. */
  #extend(list: number, unused: number): void {
    const length = Math.min(this.#slice[list]! * 2, sliceBytesMax)
    const address = this.#allocate(length)
    const link = this.#limit[list]!
    const block = this.#blocks[link >>> blockBits]!
    const offset = link & (blockBytes - 1)
    for (let i = 0; i < linkBytes; i++) block[offset + i] = (address | unused) >>> (8 * i)
    this.#setSlice(list, address, length)
  }

  #setSlice(list: number, address: number, length: number): void {
    this.#next[list] = address
    this.#limit[list] = address + length - linkBytes
    this.#slice[list] = length
  }

  /** Reserves a slice within one block. */
  #allocate(length: number): number {
    if (length > this.#blocks.length * blockBytes - this.#free) {
      this.#free = this.#blocks.length * blockBytes
      this.#blocks.push(new Uint8Array(blockBytes))
    }
    const address = this.#free
    this.#free += length
    return address
  }

  #grow(): void {
    this.#first = growArray(this.#first)
    this.#next = growArray(this.#next)
    this.#limit = growArray(this.#limit)
    this.#slice = growArray(this.#slice)
  }
}

function sliceLengthOf(distance: number): number {
  let length = 1
  for (let rest = distance >>> 7; rest > 0; rest >>>= 7) length++
  return length
}

function readLink(block: Uint8Array, at: number): number {
  return block[at]! | (block[at + 1]! << 8) | (block[at + 2]! << 16) | (block[at + 3]! << 24)
}

import { growArray } from './grow-array.ts'

/** Usable bytes of a list's first slice. Each further slice is twice as long, up to the maximum. */
const sliceBytesMin = 4
const sliceBytesMax = 4096
const blockBits = 16
const blockBytes = 1 << blockBits
/** Bytes at the end of a slice that store the address of the next slice. */
const linkBytes = 4

/**
 * Many byte lists that only grow, in shared blocks of memory. Each list is a chain of slices whose lengths double, as in
 * Lucene's `ByteBlockPool`: most lists are short, and a few are very long. A list is a number.
 */
export class ByteLists {
  readonly #blocks: Uint8Array[] = []
  /** The first address that no slice uses. */
  #end = 0
  /** By list: the address of its first slice, of its next byte, and of the end of its last slice. */
  #first = new Int32Array(1024)
  #next = new Int32Array(1024)
  #limit = new Int32Array(1024)
  /** By list: the length of its last slice. */
  #slice = new Int32Array(1024)
  #count = 0
  #buffer = new Uint8Array(1024)

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
    this.#next[list] = address
    this.#limit[list] = address + sliceBytesMin
    this.#slice[list] = sliceBytesMin
    return list
  }

  /** Appends a byte to a list. */
  append(list: number, byte: number): void {
    let at = this.#next[list]!
    if (at === this.#limit[list]!) at = this.#extend(list)
    this.#blocks[at >>> blockBits]![at & (blockBytes - 1)] = byte
    this.#next[list] = at + 1
  }

  /** Appends an unsigned number in LEB128: 7 bits per byte, the lowest first. */
  appendNumber(list: number, number: number): void {
    let rest = number
    for (; rest > 127; rest >>>= 7) this.append(list, (rest & 127) | 128)
    this.append(list, rest)
  }

  /** The bytes of a list, in a buffer that the next call overwrites. Further bytes of the buffer have no meaning. */
  read(list: number): Uint8Array {
    let at = this.#first[list]!
    let length = sliceBytesMin
    let end = 0
    for (;;) {
      const block = this.#blocks[at >>> blockBits]!
      const offset = at & (blockBytes - 1)
      const isLast = at + length === this.#limit[list]!
      const used = isLast ? this.#next[list]! - at : length
      if (end + used > this.#buffer.length) this.#buffer = growArray(this.#buffer, end + used)
      this.#buffer.set(block.subarray(offset, offset + used), end)
      end += used
      if (isLast) return this.#buffer
      at = readLink(block, offset + length)
      length = Math.min(length * 2, sliceBytesMax)
    }
  }

  #extend(list: number): number {
    const length = Math.min(this.#slice[list]! * 2, sliceBytesMax)
    const next = this.#allocate(length)
    const link = this.#limit[list]!
    const block = this.#blocks[link >>> blockBits]!
    const offset = link & (blockBytes - 1)
    for (let i = 0; i < linkBytes; i++) block[offset + i] = next >>> (8 * i)
    this.#slice[list] = length
    this.#limit[list] = next + length
    return next
  }

  /** Reserves a slice and its link within one block. */
  #allocate(length: number): number {
    const bytes = length + linkBytes
    if (bytes > this.#blocks.length * blockBytes - this.#end) {
      this.#end = this.#blocks.length * blockBytes
      this.#blocks.push(new Uint8Array(blockBytes))
    }
    const address = this.#end
    this.#end += bytes
    return address
  }

  #grow(): void {
    this.#first = growArray(this.#first)
    this.#next = growArray(this.#next)
    this.#limit = growArray(this.#limit)
    this.#slice = growArray(this.#slice)
  }
}

function readLink(block: Uint8Array, at: number): number {
  return block[at]! | (block[at + 1]! << 8) | (block[at + 2]! << 16) | (block[at + 3]! << 24)
}

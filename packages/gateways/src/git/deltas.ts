/** Collects the instructions that make an object from its base (gitformat-pack). */
export interface DeltaWriter {
  /** Adds an instruction: the next `bytes` bytes of the object are those that the base has from offset `at` on. */
  copy(at: number, bytes: number): void
  /** Adds an instruction: the next bytes of the object are `bytes`. */
  insert(bytes: Uint8Array): void
  /**
   * Returns the delta, whose instructions must make an object of `targetBytes` bytes from a base of `baseBytes` bytes.
   */
  end(baseBytes: number, targetBytes: number): Buffer
}

/** Maximum size of a copy instruction, as in git: some clients do not understand a size of three bytes. */
const copyBytesMax = 0xff_ff
const insertBytesMax = 127

export function createDeltaWriter(): DeltaWriter {
  const parts: Uint8Array[] = []
  let pending = { at: 0, bytes: 0 }

  function flush(): void {
    let { at, bytes } = pending
    while (bytes > 0) {
      const part = Math.min(bytes, copyBytesMax)
      parts.push(toCopy(at, part))
      at += part
      bytes -= part
    }
    pending = { at: 0, bytes: 0 }
  }

  return {
    copy(at, bytes) {
      if (bytes === 0) return
      if (pending.at + pending.bytes === at) pending.bytes += bytes
      else {
        flush()
        pending = { at, bytes }
      }
    },
    insert(bytes) {
      if (bytes.length === 0) return
      flush()
      for (let at = 0; at < bytes.length; at += insertBytesMax) {
        const part = bytes.subarray(at, at + insertBytesMax)
        parts.push(Buffer.of(part.length), part)
      }
    },
    end(baseBytes, targetBytes) {
      flush()
      return Buffer.concat([encodeDeltaSize(baseBytes), encodeDeltaSize(targetBytes), ...parts])
    },
  }
}

/** A copy instruction. Its first byte names which bytes of the offset and the size follow: those that are not 0. */
function toCopy(at: number, bytes: number): Buffer {
  const instruction = [0x80]
  for (const [i, value] of [at, at >>> 8, at >>> 16, at >>> 24, bytes, bytes >>> 8].entries()) {
    if ((value & 0xff) === 0) continue
    // Bits 0 to 3 are for the offset, 4 and 5 for the size.
    instruction[0]! |= 1 << i
    instruction.push(value & 0xff)
  }
  return Buffer.from(instruction)
}

/** Encodes a size with seven bits per byte, the lowest bits first. */
function encodeDeltaSize(value: number): Buffer {
  const size: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) size.push((rest & 127) | 128)
  return Buffer.of(...size, rest)
}

import { RegistryError, limits } from '@skillstead/protocol'

const quoteByte = 0x22
const backslashByte = 0x5c
const commaByte = 0x2c

/**
 * Refuses JSON that is nested too deeply or has too many values, before parsing: an attacker could send such JSON in
 * far less time than the node needs to parse it. Other errors are left to the parser.
 */
export function checkJsonShape(bytes: Uint8Array): void {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === quoteByte) {
      at = findJsonStringEnd(bytes, at)
      if (at === -1) return
    } else if (byte === commaByte) {
      values += 1
    } else if (byte === 0x5b || byte === 0x7b) {
      values += 1
      depth += 1
      if (depth > limits.bodyDepthMax) throw toShapeError(`is nested deeper than ${limits.bodyDepthMax} levels`)
    } else if (byte === 0x5d || byte === 0x7d) {
      depth -= 1
    }
    if (values > limits.bodyValuesMax) throw toShapeError(`has more than ${limits.bodyValuesMax} values`)
  }
}

/** The position of the closing quote of a string; -1 if there is none. */
function findJsonStringEnd(bytes: Uint8Array, start: number): number {
  let end = start
  while ((end = bytes.indexOf(quoteByte, end + 1)) !== -1) {
    let first = end
    while (bytes[first - 1] === backslashByte) first -= 1
    if ((end - first) % 2 === 0) return end
  }
  return -1
}

function toShapeError(what: string): RegistryError {
  return new RegistryError('invalid_request', `The body ${what}.`)
}

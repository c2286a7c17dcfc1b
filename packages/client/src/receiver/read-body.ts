import { WebhookError } from './webhook-error.ts'

const bytesAtFirst = 4096

/**
 * Reads the bytes of a request's body. Throws `too_large` as soon as it exceeds `bytesMax`, `malformed` if it is cut
 * off, and a TypeError if the body was read before.
 */
export async function readBody(request: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  if (request.bodyUsed || request.body?.locked) {
    throw new TypeError('The body was read before. Pass an unread request, such as a clone.')
  }
  const tooLarge = () => new WebhookError('too_large', `The body is larger than ${bytesMax} bytes.`)
  if (Number(request.headers.get('content-length')) > bytesMax) throw tooLarge()
  let bytes = new Uint8Array(bytesAtFirst)
  let length = 0
  const reader = request.body?.getReader()
  for (let next = await read(reader); next?.value; next = await read(reader)) {
    const end = length + next.value.length
    if (end > bytesMax) throw tooLarge()
    if (end > bytes.length) bytes = grow(bytes, Math.min(2 * end, bytesMax))
    bytes.set(next.value, length)
    length = end
  }
  return bytes.subarray(0, length)
}

async function read(reader: ReadableStreamDefaultReader<Uint8Array> | undefined) {
  try {
    return await reader?.read()
  } catch (cause) {
    throw new WebhookError('malformed', 'The body was cut off.', { cause })
  }
}

/** Copy into one buffer: a body may arrive byte by byte, and each stored chunk takes a hundred bytes. */
function grow(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length)
  larger.set(bytes)
  return larger
}

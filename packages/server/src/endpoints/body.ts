import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { ServerRequest } from 'srvx'
import { RegistryError, limits } from '@skillstead/protocol'

type NodeRequest = Readable & Pick<IncomingMessage, 'headers'>

const nothing = new Uint8Array()
/** How long the rest of a refused body is still read, in milliseconds. */
const lingerMs = 2000

/**
 * Reads the body of a request and counts its bytes on arrival; `Content-Length` is only used to refuse a large body
 * early. `hold` is called with the size of each chunk before the chunk is stored, and may throw. Throws
 * `payload_too_large`, and `invalid_request` when the caller aborts.
 */
export async function readRequestBody(
  request: ServerRequest,
  bytesMax: number,
  hold: (bytes: number) => void = () => {},
): Promise<Uint8Array> {
  const nodeRequest = request.runtime?.node?.req
  if (nodeRequest) return readNodeBody(nodeRequest, bytesMax, hold)
  if (!request.body) return nothing
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body) {
    size += chunk.byteLength
    if (size > bytesMax) throw bodyTooLarge(bytesMax)
    hold(chunk.byteLength)
    chunks.push(chunk)
  }
  return joinChunks(chunks)
}

/** Reads Node's stream directly, because a web stream would take longer than a small operation. */
function readNodeBody(request: NodeRequest, bytesMax: number, hold: (bytes: number) => void): Promise<Uint8Array> {
  const { 'content-length': declared, 'transfer-encoding': encoding } = request.headers
  if (encoding === undefined && (declared === undefined || declared === '0')) return Promise.resolve(nothing)
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown) => {
      request.off('data', onData).off('end', onEnd)
      discardRest(request)
      reject(error)
    }
    const chunks: Uint8Array[] = []
    let size = 0
    const onData = (chunk: Uint8Array) => {
      size += chunk.byteLength
      if (size > bytesMax) return refuse(bodyTooLarge(bytesMax))
      try {
        hold(chunk.byteLength)
      } catch (error) {
        return refuse(error)
      }
      chunks.push(chunk)
    }
    const onEnd = () => {
      // Every request emits `close` at its end; only an earlier `close` means that the caller aborted.
      request.off('close', onGone)
      resolve(joinChunks(chunks))
    }
    const onGone = () => reject(new RegistryError('invalid_request', 'The request ended before its body was complete.'))
    request.once('error', onGone).once('close', onGone)
    if (Number(declared) > bytesMax) return refuse(bodyTooLarge(bytesMax))
    request.on('data', onData).once('end', onEnd)
  })
}

/**
 * Reads and discards the rest of a refused body for a short time, up to the size that the largest endpoint accepts, and
 * then closes the connection. Most clients read the response only after they have sent the body, and would see a reset
 * instead of the 413 if the connection closed earlier.
 */
function discardRest(request: Readable): void {
  const timer = setTimeout(() => request.destroy(), lingerMs)
  request.once('close', () => clearTimeout(timer))
  let left: number = limits.bodyBytesMax
  request.on('data', (chunk: Uint8Array) => {
    left -= chunk.byteLength
    if (left < 0) request.destroy()
  })
}

function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

function bodyTooLarge(bytesMax: number): RegistryError {
  return new RegistryError('payload_too_large', `The body is larger than ${bytesMax} bytes.`)
}

import type { IncomingMessage } from 'node:http'
import type { ServerRequest } from 'srvx'
import { RegistryError, limits } from '@skillstead/protocol'

const nothing = new Uint8Array()
/** How long what comes after a refusal is still read. */
const lingerMs = 2000

/**
 * Reads the body of a request, counting as it comes: what `Content-Length` says is only believed to refuse early.
 * `hold` is told of each piece before it is kept, and may throw. Throws `payload_too_large`, and `invalid_request` when
 * the caller breaks off.
 */
export async function readBody(
  request: ServerRequest,
  bytesMax: number,
  hold: (bytes: number) => void = () => {},
): Promise<Uint8Array> {
  const nodeRequest = request.runtime?.node?.req as IncomingMessage | undefined
  if (nodeRequest) return readNodeBody(nodeRequest, bytesMax, hold)
  if (!request.body) return nothing
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > bytesMax) throw tooLarge(bytesMax)
    hold(chunk.byteLength)
    chunks.push(chunk)
  }
  return join(chunks)
}

/** Without web streams in between, which cost more than a small operation. */
function readNodeBody(request: IncomingMessage, bytesMax: number, hold: (bytes: number) => void): Promise<Uint8Array> {
  const { 'content-length': declared, 'transfer-encoding': encoding } = request.headers
  if (encoding === undefined && (declared === undefined || declared === '0')) return Promise.resolve(nothing)
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown) => {
      request.off('data', onData).off('end', onEnd)
      discard(request)
      reject(error)
    }
    const chunks: Uint8Array[] = []
    let size = 0
    const onData = (chunk: Uint8Array) => {
      size += chunk.byteLength
      if (size > bytesMax) return refuse(tooLarge(bytesMax))
      try {
        hold(chunk.byteLength)
      } catch (error) {
        return refuse(error)
      }
      chunks.push(chunk)
    }
    const onEnd = () => {
      // Every request closes in the end; only one that does so early is gone.
      request.off('close', onGone)
      resolve(join(chunks))
    }
    const onGone = () => reject(new RegistryError('invalid_request', 'The request ended before its body did.'))
    request.once('error', onGone).once('close', onGone)
    if (Number(declared) > bytesMax) return refuse(tooLarge(bytesMax))
    request.on('data', onData).once('end', onEnd)
  })
}

/**
 * Most clients read no answer before they have sent everything, and one that is cut off sees a reset instead of the
 * 413. So what any endpoint would take is read and thrown away for a moment; then the connection ends.
 */
function discard(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), lingerMs)
  request.once('close', () => clearTimeout(timer))
  let left: number = limits.bodyBytesMax
  request.on('data', (chunk: Uint8Array) => {
    left -= chunk.byteLength
    if (left < 0) request.destroy()
  })
}

function join(chunks: readonly Uint8Array[]): Uint8Array {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

function tooLarge(bytesMax: number): RegistryError {
  return new RegistryError('payload_too_large', `The body is larger than ${bytesMax} bytes.`)
}

import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { RegistryError, readErrorCode } from '@skillstead/protocol'
import type { GatewayCall, GatewayHost } from '../gateway.ts'

/** Maximum bytes of a request, before and after decompression: about 40,000 lines with an object id. */
const bodyBytesMax = 2 * 1024 * 1024
const gunzipInThread = promisify(gunzip)

/**
 * Reads the body of `git-upload-pack`. Git compresses it if it is large. Throws `payload_too_large`, `invalid_request`
 * and `unsupported_media_type`.
 */
export async function readUploadBody(host: GatewayHost, call: GatewayCall): Promise<Uint8Array> {
  const type = call.header('content-type')?.split(';')[0]!.trim().toLowerCase()
  if (type !== 'application/x-git-upload-pack-request') {
    throw new RegistryError('unsupported_media_type', 'Send the body as application/x-git-upload-pack-request.')
  }
  const bytes = await host.readBody(call, bodyBytesMax)
  const coding = call.header('content-encoding')?.trim().toLowerCase() || 'identity'
  if (coding === 'identity') return bytes
  if (coding !== 'gzip' && coding !== 'x-gzip') {
    throw new RegistryError('unsupported_media_type', 'Send the body with `Content-Encoding: gzip`, or without one.')
  }
  try {
    return await gunzipInThread(bytes, { maxOutputLength: bodyBytesMax })
  } catch (cause) {
    if (readErrorCode(cause) === 'ERR_BUFFER_TOO_LARGE') {
      throw new RegistryError('payload_too_large', `The decompressed body exceeds ${bodyBytesMax} bytes.`, { cause })
    }
    throw new RegistryError('invalid_request', 'The body is not valid gzip.', { cause })
  }
}

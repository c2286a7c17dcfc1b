import { RegistryError, readFields } from '@skillstead/protocol'
import { useProxyOfEnvironment } from './proxy.ts'

const requestMs = 30_000

/**
 * Sends a request with secrets, and returns the fields of the JSON object in the response; no fields for any other
 * response. Redirects are not followed: they would lead the secrets to another address. Throws `upstream_failed` if no
 * server responds within 30 seconds.
 */
export async function requestJson(url: URL, { signal, ...init }: RequestInit) {
  useProxyOfEnvironment()
  const timeout = AbortSignal.timeout(requestMs)
  try {
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout
    const response = await fetch(url, { ...init, redirect: 'manual', signal: either })
    return { status: response.status, body: readFields(await response.text()) }
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new RegistryError('upstream_failed', `No server responds at ${url.origin}.`, { cause })
  }
}

import { setTimeout } from 'node:timers/promises'
import { toOneLine } from '@skillstead/protocol'
import { toNodeAddress } from '../files/config.ts'
import { requestJson } from './request-json.ts'

/** A code, and the address of the page of the node on which the user enters it. */
interface ShownCode {
  readonly address: string
  readonly code: string
}

/**
 * Gets an API key of the user who enters a code on a page of the node (RFC 8628). `show` prints the code. Throws if the
 * user denies the sign-in, or enters no code within 10 minutes.
 */
export async function loginByDevice(
  url: string,
  label: string,
  { show, signal }: { show(code: ShownCode): void; signal: AbortSignal },
): Promise<string> {
  const post = (action: string, fields: Record<string, string>) => postForm(url, action, fields, signal)
  const begun = await post('code', { client_id: 'skillstead', scope: 'read publish manage', label })
  const [deviceCode, code, address] = [begun.device_code, begun.user_code, begun.verification_uri].map(String)
  if (begun.error !== undefined || begun.device_code === undefined)
    throw new Error(`${toOneLine(url)} did not begin a sign-in: ${toSignInFailure(begun)}`)
  show({ address: toOneLine(address!), code: toOneLine(code!) })
  let seconds = toSeconds(begun.interval, 5)
  const end = Date.now() + toSeconds(begun.expires_in, 600) * 1000
  while (Date.now() < end) {
    await setTimeout(seconds * 1000, undefined, { signal })
    const answer = await post('token', {
      client_id: 'skillstead',
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: deviceCode!,
    })
    if (typeof answer.access_token === 'string') return answer.access_token
    // Each `slow_down` adds five seconds, unless the node names an interval (RFC 8628, section 3.5).
    if (answer.error === 'slow_down') seconds = Math.max(seconds + 5, toSeconds(answer.interval, 0))
    else if (answer.error === 'access_denied')
      throw new Error('The sign-in was denied in the dashboard of the node. To try again, run `skillstead login`.')
    else if (answer.error !== 'authorization_pending') throw new Error(`The sign-in failed: ${toSignInFailure(answer)}`)
  }
  throw new Error('The code expired. Run `skillstead login` again.')
}

type Fields = Readonly<Record<string, unknown>>

async function postForm(
  url: string,
  action: string,
  fields: Record<string, string>,
  signal: AbortSignal,
): Promise<Fields> {
  const endpoint = new URL(`${toNodeAddress(url)}/api/cli/device/${action}`)
  const { status, body } = await requestJson(endpoint, { method: 'POST', body: new URLSearchParams(fields), signal })
  if (Object.keys(body).length > 0) return body
  return { error: `status ${status}. Is this the address of a Skillstead node?` }
}

function toSignInFailure({ error_description: description, error }: Fields): string {
  return toOneLine(String(description ?? error ?? 'no code')).slice(0, 300)
}

/** A number of seconds between 1 and 600 that the node sent. */
function toSeconds(value: unknown, usual: number): number {
  return typeof value === 'number' && value > 0 ? Math.min(Math.max(value, 1), 600) : usual
}

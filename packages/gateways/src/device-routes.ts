import { allowSignIn, authorize, denySignIn, findSignIn, pollSignIn, requestSignIn } from '@skillstead/core/internal'
import { endpoints, RegistryError, toVisibleText, type Scope } from '@skillstead/protocol'
import {
  requireClientAddress,
  toJsonAnswer,
  type Answer,
  type GatewayCall,
  type GatewayHost,
  type GatewayRoute,
} from './gateway.ts'
import { type Fields, readBodyFields, readTextField, requireText } from './body-fields.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

/**
 * The scopes that every program gets, for installing and publishing. Other scopes, for keys and settings, must be
 * requested.
 */
const usualScopes: Scope[] = ['read', 'publish']

/**
 * The sign-in of a program without a browser (RFC 8628), for `skillstead login` and `clawhub login`: the program shows
 * a code, which a user enters on the dashboard's page `/device`. The program then gets a new API key of that user. The
 * paths are at the root of the host, because `clawhub` expects them there, whatever the base URL of its API is. The
 * routes do not depend on which gateways the node has.
 */
export function createDeviceRoutes(host: GatewayHost): GatewayRoute[] {
  const ofProgram = { admission: 'guests', origins: 'none', toFailure: toOauthFailure } as const
  // Only pages of the node itself may send the session of the dashboard.
  const ofPage = { admission: 'api', origins: 'own' } as const
  return [
    toDeviceRoute('code', { ...ofProgram, answer: (call) => requestCode(host, call) }),
    toDeviceRoute('token', { ...ofProgram, answer: (call) => pollToken(host, call) }),
    toDeviceRoute('show', { ...ofPage, answer: (call) => showDeviceRequest(host, call) }),
    toDeviceRoute('decide', { ...ofPage, answer: (call) => decideRequest(host, call) }),
  ]
}

function toDeviceRoute(action: string, rest: Omit<GatewayRoute, 'pattern' | 'endpoint' | 'methods'>): GatewayRoute {
  return { pattern: `/api/cli/device/${action}`, endpoint: 'deviceSignIn', methods: ['POST'], ...rest }
}

const labelCharactersMax = 60

async function requestCode(host: GatewayHost, call: GatewayCall): Promise<Answer> {
  const fields = await readForm(host, call)
  const label = toVisibleText(readTextField(fields, 'label') ?? '')
    .slice(0, labelCharactersMax)
    .toWellFormed()
    .trim()
  const address = requireClientAddress(host, call)
  const asked = (readTextField(fields, 'scope') ?? '').split(' ')
  const scopes = asked.includes('manage') ? [...usualScopes, 'manage' as const] : usualScopes
  const wanted = { label: label || 'CLI sign-in', scopes, address: host.limitAddressOf(call) }
  const made = await requestSignIn(host.context, wanted)
  return toOauthAnswer({
    device_code: made.deviceCode,
    user_code: made.userCode,
    verification_uri: `${address}/device`,
    expires_in: made.lifetimeMs / 1000,
    interval: made.intervalSeconds,
  })
}

async function pollToken(host: GatewayHost, call: GatewayCall): Promise<Answer> {
  const fields = await readForm(host, call)
  if (readTextField(fields, 'grant_type') !== grantType) return toOauthAnswer({ error: 'unsupported_grant_type' }, 400)
  const result = await pollSignIn(host.context, requireText(fields, 'device_code'))
  if ('error' in result) return toOauthAnswer(result, 400)
  return toOauthAnswer({ access_token: result.key, token_type: 'Bearer', scope: result.scopes })
}

/** The data that the page `/device` shows before the user decides. */
async function showDeviceRequest(host: GatewayHost, call: GatewayCall): Promise<Answer> {
  requireSession(call)
  const userCode = requireText(await readBodyFields(host, call), 'userCode')
  const { label, requestedAt, scopes } = await findSignIn(host.context, userCode, call.caller)
  return toJsonAnswer(call, { label, scopes, requestedAt: new Date(requestedAt).toISOString() })
}

async function decideRequest(host: GatewayHost, call: GatewayCall): Promise<Answer> {
  requireSession(call)
  const fields = await readBodyFields(host, call)
  const userCode = requireText(fields, 'userCode')
  if (typeof fields.allow !== 'boolean') throw new RegistryError('invalid_request', 'allow must be true or false.')
  if (fields.allow) {
    authorize(endpoints.createApiKey, call.caller)
    await allowSignIn(host.context, userCode, call.caller)
  } else await denySignIn(host.context, userCode, call.caller)
  return toJsonAnswer(call, { allowed: fields.allow })
}

/**
 * Requires a session of the dashboard, so that a program with a key cannot approve another key. Throws `unauthorized`
 * for a guest and `forbidden` for a key.
 */
function requireSession({ caller }: GatewayCall): void {
  if (caller.kind === 'guest') throw new RegistryError('unauthorized', 'Sign in to the dashboard first.')
  if (caller.keyId === undefined) return
  throw new RegistryError('forbidden', 'Confirm the code on the page /device of the dashboard.')
}

/** Reads a body in JSON, which our and ClawHub's clients send, or a form, which RFC 8628 prescribes. */
async function readForm(host: GatewayHost, call: GatewayCall): Promise<Fields> {
  if (!call.header('content-type')?.startsWith('application/x-www-form-urlencoded')) return readBodyFields(host, call)
  const bytes = await host.readBody(call, formBytesMax)
  return Object.fromEntries(new URLSearchParams(Buffer.from(bytes).toString('utf8')))
}

const formBytesMax = 16_384

function toOauthAnswer(value: object, status = 200): Answer {
  return { status, contentType: 'application/json; charset=utf-8', body: Buffer.from(JSON.stringify(value)) }
}

/** Converts an error to JSON, as in OAuth. A program that exceeds its rate limit is asked to poll less often. */
function toOauthFailure({ code, message, retryAfterSeconds = 60 }: RegistryError) {
  const limited = { error: 'slow_down', interval: retryAfterSeconds }
  const failure = code === 'rate_limited' ? limited : { error: code }
  const body = Buffer.from(JSON.stringify({ ...failure, error_description: message }))
  return { contentType: 'application/json; charset=utf-8', body }
}

import type { Registry } from '@skillstead/core'
import {
  exchangeIdentity,
  isTrustedIssuer,
  type OperatorContext,
  partsOf,
  refuseExchange,
} from '@skillstead/core/internal'
import {
  type Answer,
  type GatewayCall,
  type GatewayHost,
  requireClientAddress,
  toJsonAnswer,
} from '@skillstead/gateways'
import { isLoopbackHost, isOwnerOrFullName, RegistryError, toVisibleText } from '@skillstead/protocol'
import { IssuerKeys } from './issuer-keys.ts'
import { readIssuer, verifyToken } from './verify-token.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'
const subjectTokenTypes = ['urn:ietf:params:oauth:token-type:jwt', 'urn:ietf:params:oauth:token-type:id_token']
const bodyBytesMax = 32 * 1024

/** Options of {@link createTokenExchange}. */
export interface TokenExchangeOptions {
  /** The node's public URL, the required audience of tokens. Without it, only loopback addresses exchange tokens. */
  readonly publicUrl?: string | undefined
}

/** Answers a request of `POST /token/exchange`. */
export type TokenExchange = (host: GatewayHost, call: GatewayCall) => Promise<Answer>

/**
 * Creates the handler of `POST /token/exchange`, which exchanges a CI job's OpenID Connect token for an API key (RFC
 * 8693). For 15 minutes, the key can publish the skills that trust the job. Errors have the form of RFC 6749, section
 * 5.2. Refused tokens of trusted issuers are recorded in the audit log.
 *
 * @example
 * const tokenExchange = async () => createTokenExchange(registry, { publicUrl: 'https://skills.example.com' })
 * await listenNode(registry, { publicUrl: 'https://skills.example.com', tokenExchange })
 */
export function createTokenExchange(registry: Registry, options: TokenExchangeOptions = {}): TokenExchange {
  const context = partsOf(registry)
  const keys = new IssuerKeys(context)
  return async (host, call) => {
    try {
      return toAnswer(call, await exchange(context, keys, options, host, call))
    } catch (error) {
      if (error instanceof OauthError) return toErrorAnswer(call, error.code, error.message)
      if (!(error instanceof RegistryError) || error.code === 'rate_limited') throw error
      const { code, message } = error
      if (code === 'forbidden' || code === 'invalid_request') return toErrorAnswer(call, 'invalid_request', message)
      if (code.startsWith('upstream_') || code === 'offline')
        return toErrorAnswer(call, 'temporarily_unavailable', message, 503)
      throw error
    }
  }
}

class OauthError extends Error {
  readonly code: 'invalid_request' | 'invalid_scope' | 'invalid_target' | 'unsupported_grant_type'

  constructor(code: OauthError['code'], message: string) {
    super(message)
    this.code = code
  }
}

async function exchange(
  context: OperatorContext,
  keys: IssuerKeys,
  { publicUrl }: TokenExchangeOptions,
  host: GatewayHost,
  call: GatewayCall,
) {
  const address = requireClientAddress(host, call)
  // Without a public URL, the audience is the Host of the request: a token for another service, sent with that
  // service's Host, would be accepted.
  if (publicUrl === undefined && !isLoopbackHost(new URL(address)))
    throw new OauthError('invalid_request', 'The operator of this node has to start it with --public-url first.')
  const fields = await readForm(host, call)
  if (fields.get('grant_type') !== grantType)
    throw new OauthError('unsupported_grant_type', `The grant_type must be ${grantType}.`)
  requireOneOf(fields, 'subject_token_type', subjectTokenTypes)
  if (fields.has('requested_token_type')) requireOneOf(fields, 'requested_token_type', [accessTokenType])
  if (fields.has('actor_token')) throw new OauthError('invalid_request', 'An actor_token is not supported.')
  if ((fields.get('scope') ?? 'publish') !== 'publish')
    throw new OauthError('invalid_scope', 'The scope must be publish.')
  const target = readTarget(fields.get('resource') ?? '', address)
  const token = fields.get('subject_token') ?? ''
  const made = await exchangeToken(context, keys, { token, address, target })
  return {
    access_token: made.key,
    issued_token_type: accessTokenType,
    token_type: 'Bearer',
    expires_in: Math.floor((made.expiresAt - context.clock.now()) / 1000),
    scope: 'publish',
    /** The owners and skills that the key may publish. */
    targets: made.targets,
  }
}

async function exchangeToken(
  context: OperatorContext,
  keys: IssuerKeys,
  { token, address, target }: { token: string; address: string; target: string },
) {
  const issuer = readIssuer(token)
  try {
    return await exchangeIdentity(context, await verifyToken(context, keys, token, address), target)
  } catch (error) {
    // Tokens of issuers that no skill trusts are not recorded: anyone could fill the audit log with them.
    if (error instanceof RegistryError && (await isTrustedIssuer(context, issuer)))
      await refuseExchange(context, issuer, error.message)
    throw error
  }
}

async function readForm(host: GatewayHost, call: GatewayCall): Promise<URLSearchParams> {
  const type = call.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded')
    throw new OauthError('invalid_request', 'Send a form: application/x-www-form-urlencoded.')
  const fields = new URLSearchParams(Buffer.from(await host.readBody(call, bodyBytesMax)).toString('utf8'))
  const names = [...fields.keys()]
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined)
    throw new OauthError('invalid_request', `The parameter ${toVisibleText(twice).slice(0, 100)} is sent twice.`)
  return fields
}

function requireOneOf(fields: URLSearchParams, name: string, values: readonly string[]): void {
  if (values.includes(fields.get(name) ?? '')) return
  throw new OauthError('invalid_request', `The ${name} must be ${values.join(' or ')}.`)
}

/** The owner or skill that a `resource` names by its address on this node. */
function readTarget(resource: string, address: string): string {
  const target = resource.startsWith(`${address}/`) ? resource.slice(address.length + 1) : ''
  // Names only: the stored limit of a key separates its targets by spaces, so a space would add a second target.
  if (isOwnerOrFullName(target)) return target
  throw new OauthError(
    'invalid_target',
    `The resource must be the address of an owner or a skill, such as ${address}/acme/pdf.`,
  )
}

/** Replaces characters that RFC 6749 does not allow in an `error_description`. */
function toErrorAnswer(call: GatewayCall, error: string, message: string, status = 400): Answer {
  const description = message.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]/g, '?')
  return toAnswer(call, { error, error_description: description }, status)
}

/** An answer with `no-store`, because it may contain an API key, which no cache may store. */
function toAnswer(call: GatewayCall, value: object, status = 200): Answer {
  return { ...toJsonAnswer(call, value), status, cacheControl: 'no-store' }
}

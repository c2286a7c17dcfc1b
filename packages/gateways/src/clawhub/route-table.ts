import type { UserCaller } from '@skillstead/core'
import { RegistryError, type RegistryApi } from '@skillstead/protocol'
import { type Fields, readBodyFields, readTextField } from '../body-fields.ts'
import {
  requireClientAddress,
  type Answer,
  type GatewayCall,
  type GatewayHost,
  type GatewayRoute,
  type Params,
} from '../gateway.ts'

/** Where the gateway is mounted. At the root, its paths would collide with those of the node's own API. */
export const mountPath = '/clawhub'

/** An admitted request, with everything that the routes need of it. */
export interface Asked {
  readonly host: GatewayHost
  readonly call: GatewayCall
  readonly params: Params
  readonly query: URLSearchParams
  readonly api: RegistryApi
  /** The fields of the JSON body; empty without a body. Throws `invalid_request` and `payload_too_large`. */
  readFields(): Promise<Fields>
}

export type Work = (asked: Asked) => Promise<Answer>

const methods = ['GET', 'POST', 'DELETE'] as const
/** The functions that handle requests, by path below {@link mountPath} and by method. */
export type RouteTable = Readonly<Record<`/${string}`, Partial<Readonly<Record<(typeof methods)[number], Work>>>>>

/** Converts a table to routes below {@link mountPath}. */
export function toClawhubRoutes(host: GatewayHost, table: RouteTable): GatewayRoute[] {
  return Object.entries<Partial<Record<string, Work>>>(table).map(([path, works]) => ({
    pattern: `${mountPath}${path}`,
    endpoint: 'clawhub',
    methods: methods.filter((method) => works[method]),
    admission: 'keyed',
    origins: 'none',
    answer(call, params) {
      const work = works[call.method]!
      if (call.method !== 'GET' && work !== answerOk) requireSignedIn(call)
      const query = call.url?.searchParams ?? new URLSearchParams()
      const api = host.api(call, 'clawhub')
      return work({ host, call, params, query, api, readFields: () => readBodyFields(host, call) })
    },
    toFailure: toTextFailure,
  }))
}

/** An error as plain text, because `clawhub` prints the body of an error unchanged. */
export function toTextFailure(error: RegistryError) {
  return { contentType: 'text/plain; charset=utf-8', body: Buffer.from(error.message) }
}

/** A JSON answer. It always has a body, because `clawhub` retries an answer without one. */
export function toClawhubAnswer(value: object, status = 200): Answer {
  return { status, contentType: 'application/json; charset=utf-8', body: Buffer.from(JSON.stringify(value)) }
}

export const answerOk: Work = async () => toClawhubAnswer({ ok: true })

/** Returns the calling user. Throws `unauthorized` for a guest. Called before the body is read. */
export function requireSignedIn({ caller }: GatewayCall): UserCaller {
  if (caller.kind === 'user') return caller
  throw new RegistryError('unauthorized', 'Sign in first: clawhub login --token KEY, with an API key of this node.')
}

/**
 * Reads a field of a body as a list of strings; undefined if the field is missing or null. Throws `invalid_request` for
 * any other value.
 */
export function readTextList(fields: Fields, name: string): string[] | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  throw new RegistryError('invalid_request', `${name} must be a list of texts.`)
}

/**
 * The full name of a skill. Clients send its short name as `slug`, and its owner, if they know it, in the query or in
 * the body. Without an owner, the API resolves the short name.
 */
export function toClawhubName(slug: string, owner: string | null | undefined): string {
  const handle = owner?.trim().replace(/^@+/, '').toLowerCase()
  return handle ? `${handle}/${slug.trim()}` : slug.trim()
}

/** The name of the skill in a path. The owner, if given, is in the query or in the body. */
export function nameIn({ params, query }: Asked, fields: Fields = {}): string {
  return toClawhubName(params.slug ?? '', query.get('ownerHandle') ?? readTextField(fields, 'ownerHandle'))
}

/** The URL of the gateway. Throws `invalid_request` on a node that does not know its own URL. */
export function baseOf(host: GatewayHost, call: GatewayCall): string {
  return `${requireClientAddress(host, call)}${mountPath}`
}

import type * as v from 'valibot'
import type { AllowanceName } from './allowances.ts'
import type { Scope } from './scopes.ts'
import type { PlanName } from './plans.ts'
import { parseWireLine, wire, type EndpointName, type Method } from './wire.ts'

type Schema = v.GenericSchema

/** The status codes of a successful response. */
export type SuccessStatus = 200 | 201 | 202 | 204

/** One HTTP operation: everything that a router, a validator, a client and an OpenAPI document need. */
export interface Endpoint {
  readonly method: Method
  /** Path below `/api/v1`; `:name` is one segment, a trailing `/**:path` is the rest. */
  readonly path: `/${string}`
  /**
   * Who may call: everyone, users with a key, or administrators. If the request contains a key, it is always checked.
   */
  readonly auth: 'none' | 'key' | 'admin'
  /**
   * The scope that a key must have, even if a key is optional. `any`: the operation itself checks the scope, which
   * depends on the caller. Default: `read`.
   */
  readonly scope?: Scope | 'any'
  /** The lowest plan that includes the operation. */
  readonly plan?: PlanName
  /**
   * The success status; or a list from which the operation returns one status, the most frequent first. Default: 200.
   */
  readonly status?: SuccessStatus | readonly [SuccessStatus, SuccessStatus, ...SuccessStatus[]]
  readonly tag: Tag
  readonly summary: string
  readonly input: Schema
  readonly output: Schema
  /** `content`: the output is a {@link Content}, whose bytes are the body. Default: `json`. */
  readonly kind?: 'json' | 'content'
  /**
   * Body types that are accepted in addition to JSON; the bytes arrive in the input's `archive`, the other fields as
   * query parameters.
   */
  readonly uploads?: readonly string[]
  /**
   * Body fields that are also accepted as query parameters. Other fields are ignored in the query, except with an
   * upload.
   */
  readonly query?: readonly string[]
  /** Maximum size of a JSON body. Default: `limits.bodyBytesDefault`. */
  readonly bodyBytesMax?: number
  /** Anti-abuse limits in addition to the plan's limit. */
  readonly allowances?: readonly AllowanceName[]
  /** Whether a request changes nothing: every GET, and each POST that is only used because its input is long. */
  readonly reads: boolean
  /** Whether responses depend on the caller or the time, and must not be cached. */
  readonly volatile?: true
  /**
   * Whether an overloaded node refuses the operation first, with `overloaded`; or the field of the input whose presence
   * makes the operation costly.
   */
  readonly costly?: true | 'q'
  /** Whether guests may call the endpoint even on a private node. */
  readonly open?: true
  /**
   * This field of the output is sent over HTTP as a cookie instead of in the body. If the field is missing, the cookie
   * is deleted.
   */
  readonly cookie?: 'session'
}

/** The groups of endpoints in the API reference, with what each is for. */
export const tagTexts = {
  Skills: 'Find, read, publish and share skills.',
  Security: 'Quarantined versions, and scans of stored ones.',
  Reviews: 'Reviews of skills by users and agents, and issues.',
  Evaluations: 'Measured pass rates of versions, with and without the skill.',
  Packs: 'Named lists of skills that are installed at once.',
  Agents: 'Agents that install and review skills, and their heartbeat.',
  Requests: 'Skills that people ask for, and votes for them.',
  Account: 'Your keys, your profile and the session of the dashboard.',
  Organisations: 'Owners of skills that have members, teams, rules and reviewers.',
  Users: 'Authors and who follows them.',
  Reputation: 'Scores of authors, and the verification of your account.',
  Webhooks: 'Events sent to your server, with their deliveries.',
  'External skills': 'Skills of other registries, found and scanned by their URL.',
  Telemetry: 'Anonymous counts of installs, and the trends that follow from them.',
  Sync: 'What mirrors read: the log of public changes, its proofs and the files.',
  Moderation: 'Reports of skills, appeals, and decisions of the administrators.',
  DMCA: 'Takedown notices and counter-notices.',
  Administration: 'Users, keys, verifications and the audit log, for administrators.',
  Mirrors: 'The registries that this node syncs from, for administrators.',
  Operation: 'The state, jobs, storage and backups of the node, for administrators.',
} as const satisfies Record<string, string>
type Tag = keyof typeof tagTexts

/** Endpoints by name. */
export type Endpoints = Record<string, Endpoint>

/** The properties of an endpoint that come from the wire table, and its tag. */
type OnWire = Pick<Endpoint, 'method' | 'path' | 'tag' | 'kind' | 'reads'>

/** An endpoint with the types of its input and output, not of its schemas, which would slow compilers by seconds. */
export interface TypedEndpoint<In, Read, Out, Status extends Endpoint['status']> extends Endpoint {
  readonly input: v.GenericSchema<In, Read>
  readonly output: v.GenericSchema<unknown, Out>
  readonly status: Status
}

type Details = Omit<Endpoint, keyof OnWire>
type ToTyped<T extends Details> = TypedEndpoint<
  v.InferInput<T['input']>,
  v.InferOutput<T['input']>,
  v.InferOutput<T['output']>,
  T extends { readonly status: infer Status extends Endpoint['status'] } ? Status : undefined
>

/** Adds the method, the path and the kind of the output from the wire table to the endpoints of one tag. */
export function toEndpoints<const T extends Record<string, Details>>(
  tag: Tag,
  details: T & Record<Exclude<keyof T, EndpointName>, never>,
): { readonly [K in keyof T]: ToTyped<T[K]> } {
  const entries = Object.entries<object>(details).map(([name, rest]) => {
    const { method, path, isContent, reads } = parseWireLine(wire[name as EndpointName])
    return [name, { method, path, reads, tag, kind: isContent ? 'content' : 'json', ...rest }]
  })
  return Object.fromEntries(entries) as { readonly [K in keyof T]: ToTyped<T[K]> }
}

/** The input of a caller, before defaults and coercions. */
export type Input<E extends Endpoint> = v.InferInput<E['input']>
/** The input of an operation, after defaults and coercions. */
export type Parsed<E extends Endpoint> = v.InferOutput<E['input']>
/** The output that a caller receives. */
export type Output<E extends Endpoint> = v.InferOutput<E['output']>

/** The response of an operation that has several success statuses. */
export interface Reply<Body> {
  readonly status: SuccessStatus
  readonly body: Body
}

/** The result of an operation: its output, if any, or a {@link Reply} if the operation has several success statuses. */
export type Result<E extends Endpoint> = E extends { status: readonly SuccessStatus[] }
  ? Reply<Output<E>>
  : Output<E> | (undefined extends Output<E> ? void : never)

/** Options of one call, apart from its input. */
export interface ApiOptions {
  /**
   * Rejects the call with the reason of the signal, at once if the signal is already aborted. A write that already
   * reached the database or the node may still take effect.
   */
  readonly signal?: AbortSignal | undefined
}

/** The API as functions. The HTTP client and the in-process client both have this type. */
export type Api<T extends Endpoints> = {
  [K in keyof T]: (
    ...call: Record<never, never> extends Input<T[K]>
      ? [input?: Input<T[K]>, options?: ApiOptions]
      : [input: Input<T[K]>, options?: ApiOptions]
  ) => Promise<Output<T[K]>>
}

/**
 * The type of the implementation of the API; `operations satisfies Operations<...>` checks that it is complete.
 * `Encoded` is an output that is already encoded as JSON bytes.
 */
export type Operations<T extends Endpoints, Context, Caller, Encoded = never> = {
  [K in keyof T]: (
    context: Context,
    input: Parsed<T[K]>,
    caller: Caller,
  ) => Result<T[K]> | Encoded | Promise<Result<T[K]> | Encoded>
}

/** Bytes with their media type: a file, an archive, a SKILL.md document. */
export interface Content {
  readonly contentType: string
  /** The bytes, or a stream for responses that contain many files. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>
  /** `Cache-Control` of responses to guests. Default: revalidate each time. */
  readonly cacheControl?: string
  /** Sent as a strong `ETag`. Default: computed from the body. */
  readonly etag?: string
  /** File name for saving; a browser then downloads the content and never displays it. */
  readonly filename?: string
}

import type * as v from 'valibot'
import type { AllowanceName } from './allowances.ts'
import type { Scope } from './scopes.ts'
import type { PlanName } from './plans.ts'

type Schema = v.GenericSchema

/** A status that an answer may have when nothing went wrong. */
export type SuccessStatus = 200 | 201 | 202 | 204

/** One HTTP operation: everything that a router, a validator, a client and an OpenAPI document need. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/api/v1`; `:name` is one segment, a trailing `/**:path` is the rest. */
  readonly path: `/${string}`
  /** Who may call: anybody, the holder of a key, or an administrator. A key is looked at wherever one is given. */
  readonly auth: 'none' | 'key' | 'admin'
  /** What the key must be allowed to do, also one that need not be given; `any`: the operation asks for one that depends on the caller. Default: `read`. */
  readonly scope?: Scope | 'any'
  /** The lowest plan that includes the operation. */
  readonly plan?: PlanName
  /** 200 where it is not said. With several, the operation answers which, and the first is the usual one. */
  readonly status?: SuccessStatus | readonly [SuccessStatus, SuccessStatus, ...SuccessStatus[]]
  readonly tag: string
  readonly summary: string
  readonly input: Schema
  readonly output: Schema
  /** `content`: the output is a {@link Content}, its bytes are the body. JSON where it is not said. */
  readonly kind?: 'json' | 'content'
  /** Body types taken besides JSON; the bytes arrive in the input's `archive`, the other fields as query parameters. */
  readonly uploads?: readonly string[]
  /** Fields that may also come as query parameters where the method has a body; no other one may, except beside an upload. */
  readonly query?: readonly string[]
  /** The largest JSON body taken; `limits.bodyBytesDefault` where it is not said. */
  readonly bodyBytesMax?: number
  /** The limits against abuse that it has beside the plan's. */
  readonly allowances?: readonly AllowanceName[]
  /** Answers are made for the caller, or changed by time, and must not be kept by anyone. */
  readonly volatile?: true
  /** Open to guests also on a node where everything else needs a key. */
  readonly open?: true
  /** Over HTTP the output's field of this name travels in a cookie, not in the body; without it the cookie ends. */
  readonly cookie?: 'session'
}

export type Endpoints = Record<string, Endpoint>

/** What a caller sends: before defaults and coercions. */
export type Input<E extends Endpoint> = v.InferInput<E['input']>
/** What an operation receives: after defaults and coercions. */
export type Parsed<E extends Endpoint> = v.InferOutput<E['input']>
/** What a caller gets back. */
export type Output<E extends Endpoint> = v.InferOutput<E['output']>

/** The answer of an operation that has more than one good status. */
export interface Reply<Body> {
  readonly status: SuccessStatus
  readonly body: Body
}

/** What an operation returns: its output, or a {@link Reply} where the status depends on what happened. */
export type Result<E extends Endpoint> = E extends { status: readonly SuccessStatus[] } ? Reply<Output<E>> : Output<E>

/** The API as functions to call; the HTTP client and the in-process client both have this shape. */
export type Api<T extends Endpoints> = {
  [K in keyof T]: (
    ...input: Record<never, never> extends Input<T[K]> ? [input?: Input<T[K]>] : [input: Input<T[K]>]
  ) => Promise<Output<T[K]>>
}

/**
 * The API as implemented; `operations satisfies Operations<...>` is the completeness check. `Encoded` is an output that
 * is JSON already, as bytes.
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
  /** A stream only where many things are sent in one answer. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>
  /** How long what guests get may be kept; asked for again each time where it is not said. */
  readonly cacheControl?: string
  /** Sent as a strong `ETag`; without it one is computed from the body. */
  readonly etag?: string
  /** Offered as the name to save under; a browser then saves and never shows the content. */
  readonly filename?: string
}

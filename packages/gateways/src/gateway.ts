import type { CallOptions, Caller, Registry } from '@skillstead/core'
import type { CatalogueContext, WantedSkill } from '@skillstead/core/internal'
import {
  RegistryError,
  type AllowanceName,
  type Content,
  type EndpointName,
  type RegistryApi,
} from '@skillstead/protocol'
import {
  encodeList,
  type EncodedList,
  type EncodedLists,
  type Header,
  type ListKey,
  type ListParts,
} from './encoded-lists.ts'

export type { Header } from './encoded-lists.ts'

/**
 * A protocol of another ecosystem: a table of routes over the functions of the registry. A gateway never queries the
 * database and has no access rules of its own; the server admits its requests, charges them and sends its answers.
 */
export type Gateway = (host: GatewayHost) => readonly GatewayRoute[]

/** A response, before it is compared with the caller's cached copy. */
export interface Answer {
  readonly status: number
  readonly contentType?: string
  /** A stream is sent as fast as the caller reads it. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | null
  /** Default: computed from the body of a `GET`. */
  readonly etag?: string
  /** Default: `private, no-store`. */
  readonly cacheControl?: string
  readonly headers?: readonly Header[]
}

/**
 * How a request is admitted, and what it is charged as. Charged as a request of the caller: `api` checks the key or the
 * session cookie, `guests` does the same but admits guests on a node that requires a key, and `keyed` checks the key
 * only. `continued` is `keyed` without the charge: the route itself charges a request, unless the request continues one
 * that was charged. Charged as a downloaded file of the IP address, for indexes, lists and archives: `keyed-files`
 * checks the key as `keyed` does, `files` checks it only on a node that requires a key, and `open-files` never does.
 */
export type Admission = 'api' | 'guests' | 'keyed' | 'continued' | 'keyed-files' | 'files' | 'open-files'

/** `session` is the session of the dashboard. Browsers send `sign-in` even if another site redirects to the node. */
export type CookieName = 'session' | 'sign-in'

/** The decoded path parameters by name. `**:rest` in a pattern matches the remaining path. */
export type Params = Readonly<Record<string, string>>

/** A path of a gateway, with the rules for its requests. */
export interface GatewayRoute {
  /** The path, with parameters as in h3: `/packs/:slug/index.json`, `/git/**:path`. */
  readonly pattern: string
  /** The supported methods; requests with other methods get 405. `HEAD` must be listed. */
  readonly methods: readonly string[]
  /** The methods that only read, which pages of other origins may use. Default: GET and HEAD. */
  readonly readMethods?: readonly string[]
  /** The name in logs and metrics; contains no text of a caller. */
  readonly endpoint: string
  readonly admission: Admission
  /**
   * The scheme of the `Authorization` header. `bearer`: a key as bearer token. `basic`: also a key, or the token of a
   * share link, as the password with any user name. Default: `bearer`.
   */
  readonly scheme?: 'bearer' | 'basic'
  /**
   * What a request reads: one skill by its full name, or nothing of the catalogue. Default: any content. On a node that
   * requires a key, the token of a share link (see `scheme`) admits only requests for nothing or for the shared skill.
   */
  reads?(params: Params): { readonly skill: string } | 'nothing' | undefined
  /** Whether the URL itself is a credential, so that no key is needed and caches must not store the response. */
  readonly personal?: boolean
  /**
   * Which web pages may read the response: `allowed`, those of allowed other origins; `none`, no page of another
   * origin; `own`, the same, and requests from other origins are refused. Default: `allowed`.
   */
  readonly origins?: 'allowed' | 'none' | 'own'
  /** The abuse limits of the route. */
  readonly allowances?: readonly AllowanceName[]
  /** Answers an admitted request. An error becomes a response in the form of `toFailure`. */
  answer(call: GatewayCall, params: Params): Promise<Answer> | Answer
  /** An error in the form that clients of the protocol expect. Default: `application/problem+json`. */
  toFailure?(error: RegistryError): Pick<Answer, 'contentType' | 'body' | 'headers'> & { readonly status?: number }
}

/** An admitted request. */
export interface GatewayCall {
  /** The request; read its body with {@link GatewayHost.readBody}. */
  readonly request: Request
  readonly method: string
  readonly requestId: string
  /** The path and query; undefined for a malformed request target, which no route receives. */
  readonly url: URL | undefined
  readonly caller: Caller
  /** Whether the response may contain data for this caller alone. */
  readonly personal: boolean
  /** The value of a header; its name must be in lower case. */
  header(name: Lowercase<string>): string | null
}

/** The node that a gateway is mounted on. */
export interface GatewayHost {
  readonly registry: Registry
  /** The parts of the registry that functions of `@skillstead/core/internal` take. */
  readonly context: CatalogueContext
  /** The pack that installers find at the root of the node. */
  readonly discoveryPack: string | undefined
  /** The cached lists of all gateways. */
  readonly lists: EncodedLists
  /** The path of the node's public URL, which precedes paths in headers: empty, or a path such as `/skills`. */
  readonly publicPath: string
  /** The URL of the node for links, without a trailing slash; empty if unknown. */
  addressOf(call: GatewayCall): string
  /** The API as the caller of a request sees it. `client` is the name of the program, if the protocol has one. */
  api(call: GatewayCall, client?: string): RegistryApi
  /** Calls an endpoint with the query of the request as input, checked as in the API. */
  read(call: GatewayCall, endpoint: EndpointName): Promise<unknown>
  /** What a download is counted with: the calling program's name from the headers, its kind, and its IP address. */
  countedBy(call: GatewayCall): Pick<CallOptions, 'client' | 'kind' | 'address'>
  /** The IP address of the caller, or its network, for limits and counts. */
  limitAddressOf(call: GatewayCall): string
  /** The key for limits of concurrent work: the user, or the IP address of a guest. */
  limitKeyOf(call: GatewayCall): string
  /** Charges one request to the caller. Throws `rate_limited`. */
  spendRequest(call: GatewayCall): Promise<void> | undefined
  /**
   * Charges files (default: 1) to the download allowance of the caller's IP address, at most as many at once as a full
   * allowance has left after the request itself. Throws `rate_limited`.
   */
  spendFile(call: GatewayCall, files?: number): Promise<void>
  /** Charges bytes to the download allowance of the caller's IP address. Throws `rate_limited`. */
  spendBytes(call: GatewayCall, bytes: number): Promise<void>
  /** Reads a cookie of the node. */
  readCookie(call: GatewayCall, name: CookieName): string | undefined
  /** The header that sets a cookie of the node for some seconds, or with 0 deletes it. */
  toCookie(call: GatewayCall, name: CookieName, value: string, seconds: number): Header
  /** Reads the body in the encoding in which it was sent. Throws `payload_too_large`. */
  readBody(call: GatewayCall, bytesMax: number): Promise<Uint8Array>
  /** Counts `bytes` as memory of a request body while `work` runs. Throws `overloaded` if too much memory is in use. */
  holding<Result>(call: GatewayCall, bytes: number, work: () => Promise<Result>): Promise<Result>
  /** Whether the caller's cached copy has this entity tag. False if there is no tag. */
  isKnown(call: GatewayCall, etag: string | undefined): boolean
  /** An answer with published bytes: untrusted, so a browser must not run them, or display them except as text. */
  toContentAnswer(content: Content): Pick<Answer, 'body' | 'contentType' | 'etag' | 'headers'>
  /** The freshness headers of the mirrored skill `wanted`; if undefined, of lists. */
  freshness(wanted: WantedSkill | undefined): Promise<readonly Header[]>
  /** Closes the connection of a request. */
  hangUp(call: GatewayCall): void
  /** Logs an error that the client must not see. */
  failed(call: GatewayCall, error: unknown): void
}

/**
 * The URL of the node, for clients that need absolute links. Throws `invalid_request` if the node does not know its
 * URL.
 */
export function requireClientAddress(host: GatewayHost, call: GatewayCall): string {
  const address = host.addressOf(call)
  if (address !== '') return address
  throw new RegistryError(
    'invalid_request',
    'This node does not know its own URL. Its operator has to start it with --public-url.',
  )
}

/** The `Cache-Control` of content: caches must revalidate, so that a takedown has an effect at once. */
export function toCacheControl(call: GatewayCall): string {
  return call.personal ? 'private, no-store' : 'no-cache'
}

/** A JSON answer. */
export function toJsonAnswer(call: GatewayCall, value: unknown, headers: readonly Header[] = []): Answer {
  return {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: Buffer.from(JSON.stringify(value)),
    cacheControl: toCacheControl(call),
    headers,
  }
}

/**
 * Reads a list about a skill; `build` calls the API. Lists are cached only on a node without upstreams, because a node
 * with upstreams asks them first.
 */
export function readSkillList(
  { context, lists }: GatewayHost,
  call: GatewayCall,
  key: ListKey,
  build: () => Promise<ListParts>,
): Promise<EncodedList> {
  return context.upstreams.port === undefined ? lists.read(call, key, build) : encodeList(build)
}

/** Answers with a list. Charges its bytes to the caller's download allowance, unless the caller has the list cached. */
export async function toListAnswer(
  host: GatewayHost,
  call: GatewayCall,
  { bytes, etag, headers: ofList }: EncodedList,
  headers: readonly Header[] = [],
): Promise<Answer> {
  if (call.method === 'GET' && !host.isKnown(call, etag)) await host.spendBytes(call, bytes.byteLength)
  return {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: bytes,
    etag,
    cacheControl: toCacheControl(call),
    headers: [...ofList, ...headers],
  }
}

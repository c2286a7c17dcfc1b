/** What a registry may ask the outside, through one door that lets nobody reach into the operator's own network. */
export interface Outgoing {
  /** Whether nobody is asked at all: what needs an answer is `offline`. */
  readonly isOffline: boolean
  /**
   * Refuses an address that is not public before anything is done with it: another scheme than http and https,
   * credentials, a host that is or resolves to a loopback, private, link-local or otherwise special address. A name that
   * does not resolve passes. Throws `invalid_request` that names `field`.
   */
  requirePublic(address: string, field: string): Promise<URL>
  /**
   * GETs an address: the host is resolved once, every address is checked, and the one that was checked is connected to.
   * Redirects to the same host are followed, others refused. Throws `invalid_request` for addresses that are not public,
   * `upstream_failed` (no answer, too large, a redirect elsewhere) and `upstream_timeout`.
   */
  get(address: string, options: OutgoingRequest): Promise<OutgoingResponse>
  /**
   * POSTs text to an https address, over a connection that is kept for the next; each new one is checked as in
   * {@link get}. Answers the status. No redirect is followed, and of the body so little is read as it takes to use the
   * connection again. Where the other side closes a kept connection at that moment, the text is sent once more. Throws
   * as {@link get} does.
   */
  post(address: string, request: OutgoingPost): Promise<number>
  /** The TXT records of a name, each joined (RFC 1035, section 3.3.14); none where there is no such name. */
  readTxt(name: string): Promise<string[]>
  close(): Promise<void>
}

export interface OutgoingRequest {
  /** A larger body is refused as soon as that is known. */
  readonly bytesMax: number
  /** For the whole of it, the body included. */
  readonly timeoutMs?: number
}

export interface OutgoingPost {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** In which the status has to be there, from looking up the host on. */
  readonly timeoutMs: number
}

export interface OutgoingResponse {
  readonly status: number
  /** Where the answer came from, after redirects. */
  readonly url: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** Where names lead. */
export interface NameResolver {
  /** All addresses of a host; throws an error with a `code` such as `ENOTFOUND`. `port` overrides that of the URL. */
  lookup(host: string): Promise<{ address: string; port?: number }[]>
  txt(name: string): Promise<string[][]>
}

export interface OutgoingOptions {
  /** Opens no socket and asks no name server. What waits in the outbox to go outside waits on. */
  readonly offline?: boolean
  /** Networks (CIDR) that may be reached though they are not public. */
  readonly allowNetworks?: readonly string[]
  /** Certificates (PEM) to trust besides the system's. */
  readonly ca?: readonly string[]
  /** The system's resolver where it is not said. */
  readonly resolver?: NameResolver
}

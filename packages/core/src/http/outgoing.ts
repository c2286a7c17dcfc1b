/**
 * The registry's HTTP client. It protects the operator's own network: only public or listed addresses can be reached.
 */
export interface Outgoing {
  /** Whether the node is offline: requests then throw `offline`. */
  readonly isOffline: boolean
  /**
   * Rejects a URL that is not public before it is stored: a scheme other than http and https, credentials, a host that
   * is or resolves to a loopback, private, link-local or other special-purpose address. A name that does not resolve is
   * accepted. Throws `invalid_request` that names `field`.
   */
  requirePublic(address: string, field: string): Promise<URL>
  /**
   * GETs a URL. The host is resolved once, every address is checked, and the connection goes to a checked address.
   * Redirects to the same host are followed, others refused. Throws `invalid_request` for addresses that are not
   * public, `upstream_failed` (no response, too large, a redirect to another host) and `upstream_timeout`.
   */
  get(address: string, options: OutgoingRequest): Promise<OutgoingResponse>
  /**
   * POSTs text to an https URL over a keep-alive connection; each new connection is checked as in {@link get}. Returns
   * the status. Redirects are not followed. Only as much of the body is read as is needed to reuse the connection. If
   * the server closes a reused connection just as the text is sent, it is sent once more. Throws like {@link get}.
   */
  post(address: string, request: OutgoingPost): Promise<number>
  /**
   * Reads the TXT records of a name, each joined from its strings (RFC 1035, section 3.3.14); empty if the name does
   * not exist.
   */
  readTxt(name: string): Promise<string[]>
  close(): Promise<void>
}

export interface OutgoingRequest {
  /** A larger body is refused as soon as its size is known. */
  readonly bytesMax: number
  /** Deadline for the whole exchange, including the body. */
  readonly timeoutMs?: number
}

export interface OutgoingPost {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Deadline for the status, including the DNS lookup. */
  readonly timeoutMs: number
}

export interface OutgoingResponse {
  readonly status: number
  /** URL of the response after redirects. */
  readonly url: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** Resolves names. */
export interface NameResolver {
  /**
   * Returns all addresses of a host; throws an error with a `code` such as `ENOTFOUND`. `port` overrides the URL's
   * port.
   */
  lookup(host: string): Promise<{ address: string; port?: number }[]>
  txt(name: string): Promise<string[][]>
}

export interface OutgoingOptions {
  /** Opens no socket and sends no DNS query. Outbox jobs that need the network stay pending. */
  readonly offline?: boolean
  /** Networks (CIDR) that may be reached although they are not public. */
  readonly allowNetworks?: readonly string[]
  /** Certificates (PEM) to trust in addition to the system's. */
  readonly ca?: readonly string[]
  /** Default: the system's resolver. */
  readonly resolver?: NameResolver
}

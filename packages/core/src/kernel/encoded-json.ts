/** A response in the form that a transport sends repeatedly. */
export interface PreparedResponse {
  /** The address of the node, which is in the links of the response. */
  readonly address: string
  /** The headers that depend on the content alone, as alternating names and values. */
  readonly headers: readonly string[]
  /** As `headers`, for a 304 response. */
  readonly headersOf304: readonly string[]
  /** The body. A short body is a string in which each character is one byte (Latin-1). */
  readonly body: string | Uint8Array
}

/** A response as encoded JSON. The server sends the JSON, and the in-process API parses it. Can be cached. */
export class EncodedJson {
  readonly json: string
  /** A strong entity tag with its quotes (RFC 9110, section 8.8.3). */
  readonly etag: string
  /** Whether the cache of responses has the response. False again after the cache removed the response. */
  isCached = false
  /** Set by the transport that sent the response last. */
  prepared: PreparedResponse | undefined = undefined

  constructor(json: string, etag: string) {
    this.json = json
    this.etag = etag
  }
}

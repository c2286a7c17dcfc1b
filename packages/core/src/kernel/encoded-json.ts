/** A response in the form that a transport sends repeatedly. */
export interface PreparedResponse {
  /** The headers that depend on the content alone, as alternating names and values. */
  readonly headers: readonly string[]
  /** As `headers`, for a 304 response. */
  readonly headersOf304: readonly string[]
  /** The JSON in parts, between which the node's address goes. Each character is one byte of UTF-8 (Latin-1). */
  readonly parts: readonly string[]
}

/** A response as encoded JSON. The server sends the JSON, and the in-process API parses it. Can be cached. */
export class EncodedJson {
  /** The JSON; empty after {@link prepare}. */
  json: string
  /** A strong entity tag with its quotes (RFC 9110, section 8.8.3). */
  readonly etag: string
  /** Whether the cache of responses has the response. False again after the cache removed the response. */
  isCached = false
  /** The form that the transport sends, in place of the JSON. Only a response that nothing else reads has it. */
  prepared: PreparedResponse | undefined = undefined

  constructor(json: string, etag: string) {
    this.json = json
    this.etag = etag
  }

  /** Keeps the response as `prepared` alone, so that its text is in memory once. */
  prepare(prepared: PreparedResponse): PreparedResponse {
    this.prepared = prepared
    this.json = ''
    return prepared
  }
}

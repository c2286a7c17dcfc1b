/** A response as a transport sends it again and again. */
export interface PreparedResponse {
  /** The address of the node, which is in the links of the response. */
  readonly address: string
  /** The headers that the content alone decides, names and values in turn: of the response, and of 304. */
  readonly headers: readonly string[]
  readonly headersOf304: readonly string[]
  /** The body; a short one is a text in which each character is one byte. */
  readonly body: string | Uint8Array
}

/**
 * A response as encoded JSON, which the server sends and the in-process API parses. Caching it saves building the same
 * response again.
 */
export class EncodedJson {
  readonly json: string
  /** A strong entity tag with its quotes (RFC 9110, section 8.8.3). */
  readonly etag: string
  /** Whether the cache of responses holds the response. False again once its subject has changed. */
  isCached = false
  /** Set by the transport that sent the response last. */
  prepared: PreparedResponse | undefined = undefined

  constructor(json: string, etag: string) {
    this.json = json
    this.etag = etag
  }
}

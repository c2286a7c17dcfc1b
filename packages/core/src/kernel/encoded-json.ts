/**
 * A response as encoded JSON, which the server sends and the in-process API parses. Caching it saves building the same
 * response again.
 */
export class EncodedJson {
  readonly json: string
  /** A strong entity tag with its quotes (RFC 9110, section 8.8.3). */
  readonly etag: string
  /** Whether a cache holds the response, so that it may be sent again. */
  isCached = false

  constructor(json: string, etag: string) {
    this.json = json
    this.etag = etag
  }
}

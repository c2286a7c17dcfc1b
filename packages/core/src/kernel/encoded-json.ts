/**
 * A JSON answer that is kept as bytes: the server sends them as they are, the in-process API parses them.
 * It saves building and printing what was built and printed before.
 */
export class EncodedJson {
  readonly bytes: Uint8Array
  /** A strong entity tag, quotes included (RFC 9110, section 8.8.3). */
  readonly etag: string

  constructor(bytes: Uint8Array, etag: string) {
    this.bytes = bytes
    this.etag = etag
  }
}

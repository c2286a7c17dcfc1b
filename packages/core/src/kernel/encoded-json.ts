/**
 * A JSON response that is stored as bytes: the server sends them unchanged, the in-process API parses them. This saves
 * building and encoding the same response again.
 */
export class EncodedJson {
  readonly bytes: Uint8Array
  /** A strong entity tag with its quotes (RFC 9110, section 8.8.3). */
  readonly etag: string

  constructor(bytes: Uint8Array, etag: string) {
    this.bytes = bytes
    this.etag = etag
  }
}

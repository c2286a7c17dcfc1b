/**
 * A response as encoded JSON, which the server sends unchanged and the in-process API parses. This saves building the
 * same response again.
 */
export class EncodedJson {
  /** A strong entity tag with its quotes (RFC 9110, section 8.8.3). */
  readonly etag: string
  #json: string | undefined
  #bytes: Uint8Array | undefined

  constructor(json: string, etag: string) {
    this.#json = json
    this.etag = etag
  }

  /** Whether the response is held as bytes, as a cached one is, and not as text. */
  get hasBytes(): boolean {
    return this.#bytes !== undefined
  }

  /** The response as text. */
  get json(): string {
    return this.#json ?? Buffer.from(this.bytes).toString()
  }

  /** The response in UTF-8. From the first call on, it is held in this form only. */
  get bytes(): Uint8Array {
    this.#bytes ??= Buffer.from(this.#json!)
    this.#json = undefined
    return this.#bytes
  }
}

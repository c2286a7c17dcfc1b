import { RegistryError } from '@skillstead/protocol'

/** An object as a list shows it. */
export interface ListedObject {
  readonly digest: string
  readonly bytes: number
  /** The time of the upload by the clock of the service, in milliseconds since 1970. */
  readonly uploadedAt: number
}

/** The object of an element `Contents` of the list; none if the name of the object is not a digest. */
export function toListed(contents: string, prefix: string): ListedObject[] {
  const key = readTag(contents, 'Key')
  const hex = key.slice(prefix.length)
  if (!key.startsWith(prefix) || !/^[0-9a-f]{64}$/.test(hex)) return []
  const uploadedAt = Date.parse(readTag(contents, 'LastModified'))
  // An object without a time is never old enough to be removed.
  return [{ digest: `sha256:${hex}`, bytes: Number(readTag(contents, 'Size')), uploadedAt: uploadedAt || Infinity }]
}

/** The text of an element of XML without attributes and entities, as keys, times and numbers are. */
export function readTag(xml: string, tag: string): string {
  return new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1] ?? ''
}

/**
 * Whether a 404 means that the object does not exist: any other 404 means that the bucket is missing, or that the
 * endpoint is no S3 service.
 */
export function isMissingKey(bytes: Uint8Array): boolean {
  return readTag(Buffer.from(bytes).toString(), 'Code') === 'NoSuchKey'
}

/** What the operator can do about an error code of the service; the first match counts. */
const advice: readonly (readonly [RegExp, string])[] = [
  [/^NoSuchBucket$/, 'Create the bucket, or correct --blobs.'],
  [/^(InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken)$/, 'Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.'],
  [/^AccessDenied$/, 'Let these credentials list, read, write and delete objects of the bucket.'],
  [/^(PermanentRedirect|AuthorizationHeaderMalformed)$/, 'Check AWS_REGION.'],
  [/^RequestTimeTooSkewed$/, 'Correct the clock of this machine.'],
]

/** An answer that is no success. The message has the code of the service only if it is a plain word. */
export class StatusError extends Error {
  readonly status: number

  constructor(name: string, status: number, code: string) {
    const [, help = 'Check the service and --blobs-endpoint.'] = advice.find(([pattern]) => pattern.test(code)) ?? []
    super(`${name} answered ${status}${/^\w{1,60}$/.test(code) ? ` ${code}` : ''}. ${help}`)
    this.status = status
  }
}

/** Whether a request that failed with this error may succeed if it is repeated. */
export function isWorthRetry(error: Error): boolean {
  if (error instanceof StatusError) return error.status >= 500 || error.status === 429 || error.status === 408
  return error instanceof RegistryError && error.code !== 'shutting_down'
}

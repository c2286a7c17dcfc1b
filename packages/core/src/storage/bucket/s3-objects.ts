import { toDigest } from '@skillstead/skill-format/archives'
import { type AwsV4Signer } from 'aws4fetch'
import pRetry from 'p-retry'
import { limits, RegistryError } from '@skillstead/protocol'
import { createHttpClient, type HttpClient, type HttpRequest } from '../../http/http-client.ts'
import type { ProxySettings } from '../../http/proxy.ts'
import { isMissingKey, isWorthRetry, type ListedObject, readTag, StatusError, toListed } from './s3-answers.ts'
import { parseServiceUrl } from '../../kernel/service-url.ts'

/** A bucket of any service that speaks the S3 API, and the credentials for it. */
export interface BucketOptions {
  /** `s3://BUCKET` or `s3://BUCKET/PREFIX`. Each registry needs a bucket or a prefix of its own. */
  readonly url: string
  /** URL of the service; requests to it have the bucket in the path. Default: the URL of AWS in the region. */
  readonly endpoint?: string | undefined
  /** Default: us-east-1. */
  readonly region?: string | undefined
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** The session token of temporary credentials. */
  readonly sessionToken?: string | undefined
  /** Certificates (PEM) to trust in addition to the system's. Default: those of `outgoing`. */
  readonly ca?: readonly string[] | undefined
  /** Default: the proxy of `outgoing`. */
  readonly proxy?: ProxySettings | undefined
}

/** Stored bytes of an object, from an offset on. */
interface ObjectPart {
  readonly bytes: Uint8Array
  /** Size of the whole object. */
  readonly storedBytes: number
}

const readLimits = { timeoutMs: 30_000, idleMs: 5000 }
const uploadLimits = { timeoutMs: 60_000 }
const retries = { retries: 2, minTimeout: 200, maxTimeout: 1000 }
const connectionsMax = 16
const listBytesMax = 4 * 1024 * 1024
const textBytesMax = 64 * 1024
/** The object that names the registry of a prefix. */
const ownerKey = 'registry'
/** The URL of a bucket, with only characters that need no escaping in the path of a URL and in XML. */
const bucketPattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[\w-][\w.-]*)*)\/?$/

interface S3Request extends Pick<HttpRequest, 'method'> {
  /** The key of the object, without the prefix. Default: the bucket itself. */
  readonly key?: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly bytesMax?: number
  readonly isRepeated?: false
}

/**
 * The objects of a registry in a bucket, by the digests of their contents. Failed requests are repeated. If the last
 * attempt fails, the method throws an Error that names the bucket, the reason and what to do: for operators, not for
 * callers.
 */
export class S3Objects {
  /** The bucket and prefix, for messages. */
  readonly name: string
  readonly #options: BucketOptions & { readonly region: string }
  readonly #base: string
  readonly #prefix: string
  readonly #client: HttpClient
  #signer: Promise<typeof AwsV4Signer> | undefined

  /** Connects to nothing before the first call. Throws a TypeError for invalid URLs and missing credentials. */
  constructor(options: BucketOptions) {
    const region = options.region ?? 'us-east-1'
    const { name, base, prefix } = toPlace(options, region)
    if (!options.accessKeyId || !options.secretAccessKey)
      throw new TypeError(`The credentials of ${name} are missing. Pass \`accessKeyId\` and \`secretAccessKey\`.`)
    this.name = name
    this.#options = { ...options, region }
    this.#base = base
    this.#prefix = prefix
    this.#client = createHttpClient({ ca: options.ca, proxy: options.proxy, connectionsMax })
  }

  /** Stores an object, in place of an earlier one. */
  async put(digest: string, body: Uint8Array): Promise<void> {
    await this.#send({ method: 'PUT', key: toKey(digest), body })
  }

  /** Undefined if there is no such object. */
  get(digest: string): Promise<Uint8Array | undefined> {
    return this.#get(toKey(digest), limits.fileBytesMax)
  }

  /** Undefined if there is no such object. */
  async getPart(
    digest: string,
    { from, bytesMax }: { from: number; bytesMax: number },
  ): Promise<ObjectPart | undefined> {
    const headers = { range: `bytes=${from}-${from + bytesMax - 1}` }
    const response = await this.#send({ method: 'GET', key: toKey(digest), headers, bytesMax: limits.fileBytesMax })
    if (response.status === 404) return undefined
    const [, first, all] = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? []
    if (response.status === 206 && Number(first) === from) return { bytes: response.bytes, storedBytes: Number(all) }
    if (response.status === 206)
      throw new Error(`${this.name} returned another range of an object than the requested one.`)
    // A server may ignore the header `range` and send the whole object (RFC 9110, section 14.2).
    return { bytes: response.bytes.subarray(from, from + bytesMax), storedBytes: response.bytes.length }
  }

  /** All objects, in pages. */
  async *list(): AsyncGenerator<readonly ListedObject[]> {
    const prefix = this.#prefix
    for (let after = ''; ;) {
      const query = `?list-type=2&prefix=${encodeURIComponent(prefix)}${after && `&start-after=${encodeURIComponent(after)}`}`
      const response = await this.#send({ method: 'GET', query, bytesMax: listBytesMax })
      const text = response.bytes.toString()
      const found = [...text.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, one]) => one!)
      yield found.flatMap((one) => toListed(one, prefix))
      if (found.length === 0 || readTag(text, 'IsTruncated') !== 'true') return
      after = readTag(found.at(-1)!, 'Key')
    }
  }

  /** Removes an object, if there is one. Not repeated on failure. */
  async remove(digest: string): Promise<void> {
    await this.#send({ method: 'DELETE', key: toKey(digest), isRepeated: false })
  }

  /** The registry that the bucket and prefix belong to: `origin`, unless another one claimed them before. */
  async claim(origin: string): Promise<string> {
    const owner = await this.#get(ownerKey, textBytesMax)
    if (owner) return owner.toString()
    // Of two registries that begin at once, the service lets the first one write.
    const headers = { 'if-none-match': '*' }
    const claimed = await this.#send({ method: 'PUT', key: ownerKey, headers, body: Buffer.from(origin) }).catch(
      (error: unknown) => error,
    )
    if (claimed instanceof Error && !(claimed instanceof StatusError && [409, 412].includes(claimed.status)))
      throw claimed
    return (await this.#get(ownerKey, textBytesMax))?.toString() ?? ''
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async #get(key: string, bytesMax: number) {
    const { status, bytes } = await this.#send({ method: 'GET', key, bytesMax })
    return status === 404 ? undefined : bytes
  }

  async #send(request: S3Request) {
    try {
      return await pRetry(() => this.#sendOnce(request), {
        ...retries,
        ...(request.isRepeated === false && { retries: 0 }),
        shouldRetry: ({ error }) => isWorthRetry(error),
      })
    } catch (error) {
      if (!(error instanceof RegistryError) || error.code === 'shutting_down') throw error
      throw new Error(`${this.name} cannot be reached. ${error.message}`, { cause: error })
    }
  }

  async #sendOnce({ method, key, query = '', headers, body, bytesMax = textBytesMax }: S3Request) {
    // Loaded on first use: most registries have no bucket.
    this.#signer ??= import('aws4fetch').then(({ AwsV4Signer: Signer }) => Signer)
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.#options
    const signer = new (await this.#signer)({
      method,
      url: key === undefined ? this.#base.slice(0, -1) + query : this.#base + this.#prefix + key,
      headers: {
        'accept-encoding': 'identity',
        // The service compares the received bytes with their digest.
        'x-amz-content-sha256': toDigest(body ?? Buffer.alloc(0)).slice('sha256:'.length),
        ...headers,
      },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken && { sessionToken }),
      region,
      service: 's3',
    })
    const { url, headers: signed } = await signer.sign()
    const request = { method, headers: Object.fromEntries(signed), ...(body && { body }) }
    const response = await this.#client.send(url, request, { ...(body ? uploadLimits : readLimits), bytesMax })
    const { status } = response
    if ((status >= 200 && status < 300) || (status === 404 && isMissingKey(response.bytes))) return response
    throw new StatusError(this.name, status, readTag(response.bytes.toString(), 'Code'))
  }
}

/** The URL before the key, and the prefix, which is a part of each key. */
function toPlace({ url, endpoint }: BucketOptions, region: string) {
  const [, bucket, folder] = bucketPattern.exec(url) ?? []
  if (bucket === undefined)
    throw new TypeError('This is not the URL of a bucket. Use the form s3://BUCKET or s3://BUCKET/PREFIX.')
  const prefix = folder ? `${folder.slice(1)}/` : ''
  const name = `The bucket s3://${bucket}${folder}`
  if (endpoint !== undefined) {
    const base = parseServiceUrl(endpoint, 'the bucket').href.replace(/\/*$/, `/${bucket}/`)
    return { name, base, prefix }
  }
  const host = `s3.${region}.amazonaws.com`
  // The certificate of AWS does not cover bucket names that contain a dot.
  return { name, prefix, base: bucket.includes('.') ? `https://${host}/${bucket}/` : `https://${bucket}.${host}/` }
}

function toKey(digest: string): string {
  return digest.slice('sha256:'.length)
}

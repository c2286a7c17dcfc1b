import { createHash, randomBytes } from 'node:crypto'
import { limits, RegistryError } from '@skillstead/protocol'

/** What a client announces before it uploads a file. */
export interface Announced {
  readonly size: number
  readonly sha256: string
}

interface Upload extends Announced {
  readonly owner: string
  readonly expiresAt: number
  bytes: Uint8Array | undefined
}

const keptMs = 10 * 60_000
/** Per user: enough for two packages of the largest size, so that a failed publish can be repeated. */
const userLimits = { files: 2 * limits.versionFilesMax, bytes: 2 * limits.versionBytesMax }
const allLimits = { files: 16 * limits.versionFilesMax, bytes: 8 * limits.versionBytesMax }

/**
 * Files that were uploaded for a publish that has not come yet. They are in memory only, for {@link keptMs} at most. A
 * user who exceeds their limit loses their oldest files; the limit of all users refuses new ones.
 */
export class Uploads {
  /** By ticket, oldest first. */
  readonly #uploads = new Map<string, Upload>()
  readonly #now: () => number
  #timer: NodeJS.Timeout | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** Announces a file; returns its ticket. Throws `payload_too_large` and `overloaded`. */
  announce(owner: string, { size, sha256 }: Announced): string {
    if (size > limits.fileBytesMax)
      throw new RegistryError('payload_too_large', `The file is larger than ${limits.fileBytesMax} bytes.`)
    this.#dropExpired()
    this.#makeRoom(owner, size)
    const ticket = randomBytes(24).toString('base64url')
    const expiresAt = this.#now() + keptMs
    this.#uploads.set(ticket, { owner, size, sha256, expiresAt, bytes: undefined })
    this.#timer ??= setInterval(() => this.#dropExpired(), keptMs / 10).unref()
    return ticket
  }

  /** The size of an announced file. Throws `not_found` for a ticket that is unknown, expired or of another user. */
  sizeOf(owner: string, ticket: string): number {
    return this.#get(owner, ticket).size
  }

  /** Stores the bytes of an announced file. Throws `not_found`, and `invalid_request` for other bytes. */
  put(owner: string, ticket: string, bytes: Uint8Array): void {
    const upload = this.#get(owner, ticket)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    if (bytes.byteLength !== upload.size || sha256 !== upload.sha256)
      throw new RegistryError('invalid_request', 'The uploaded bytes are not those that were announced. Publish again.')
    upload.bytes = bytes
  }

  /** The bytes of an uploaded file. Throws `not_found`. */
  read(owner: string, ticket: string): Uint8Array {
    const { bytes } = this.#get(owner, ticket)
    if (bytes) return bytes
    throw unknownUpload()
  }

  /** Drops files that a publish has used. */
  drop(owner: string, tickets: readonly string[]): void {
    for (const ticket of tickets) if (this.#uploads.get(ticket)?.owner === owner) this.#remove(ticket)
  }

  #get(owner: string, ticket: string): Upload {
    this.#dropExpired()
    const upload = this.#uploads.get(ticket)
    if (upload?.owner === owner) return upload
    throw unknownUpload()
  }

  #makeRoom(owner: string, size: number): void {
    const own = [...this.#uploads].filter(([, upload]) => upload.owner === owner)
    const left = { files: userLimits.files - own.length, bytes: userLimits.bytes - sumSizes(own) }
    for (const [ticket, upload] of own) {
      if (left.files >= 1 && left.bytes >= size) break
      this.#remove(ticket)
      left.files += 1
      left.bytes += upload.size
    }
    const all = [...this.#uploads]
    if (all.length + 1 > allLimits.files || sumSizes(all) + size > allLimits.bytes) {
      const options = { retryAfterSeconds: 60 }
      throw new RegistryError('overloaded', 'Too many uploads are in progress. Publish again in a minute.', options)
    }
  }

  /** All are kept equally long, so the oldest expire first. */
  #dropExpired(): void {
    for (const [ticket, { expiresAt }] of this.#uploads) {
      if (expiresAt > this.#now()) return
      this.#remove(ticket)
    }
  }

  #remove(ticket: string): void {
    this.#uploads.delete(ticket)
    if (this.#uploads.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

function sumSizes(uploads: readonly (readonly [string, Upload])[]): number {
  return uploads.reduce((sum, [, { size }]) => sum + size, 0)
}

function unknownUpload(): RegistryError {
  return new RegistryError('not_found', 'There is no such upload: it may have expired. Publish again.')
}

import { randomBytes, randomInt } from 'node:crypto'
import { RegistryError } from '@skillstead/protocol'

/** Time between two polls at least, in seconds; each poll that comes too early adds as much (RFC 8628, section 3.5). */
const intervalSeconds = 5
const lifetimeMs = 10 * 60_000
const codesMax = 1000
const addressCodesMax = 20
/** Letters without vowels, so that codes form no words (RFC 8628, section 6.1); 20 to the power of 8 codes. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'

/** A program that waits for a user to allow it to sign in. */
interface Request {
  readonly userCode: string
  readonly deviceCode: string
  /** What the program calls itself. */
  readonly label: string
  readonly address: string
  readonly requestedAt: number
  intervalSeconds: number
  polledAt: number
  state: 'pending' | 'deciding' | 'denied' | { readonly key: string }
}

/** What a program gets when it polls; the errors are those of RFC 8628. */
export type PollResult =
  | { readonly key: string }
  | { readonly error: 'authorization_pending' | 'access_denied' | 'expired_token' }
  | { readonly error: 'slow_down'; readonly interval: number }

/** The sign-ins that programs have requested. They are in memory only, so another node or a restart does not know them. */
export class DeviceCodes {
  /** By device code, oldest first. */
  readonly #requests = new Map<string, Request>()
  readonly #guesses = new Guesses()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** Creates the codes of a request. Throws `overloaded`. */
  request(label: string, address: string) {
    this.#dropExpired()
    const own = [...this.#requests.values()].filter((one) => one.address === address && one.state === 'pending')
    if (own.length >= addressCodesMax) this.#requests.delete(own[0]!.deviceCode)
    if (this.#requests.size >= codesMax)
      throw new RegistryError('overloaded', 'Too many sign-ins are waiting. Try again in a minute.', {
        retryAfterSeconds: 60,
      })
    const request: Request = {
      userCode: this.#createUserCode(),
      deviceCode: randomBytes(32).toString('base64url'),
      label,
      address,
      requestedAt: this.#now(),
      intervalSeconds,
      polledAt: this.#now(),
      state: 'pending',
    }
    this.#requests.set(request.deviceCode, request)
    const { userCode, deviceCode } = request
    return { userCode: `${userCode.slice(0, 4)}-${userCode.slice(4)}`, deviceCode, intervalSeconds, lifetimeMs }
  }

  /** The state of a request. A program gets its key once. */
  poll(deviceCode: string): PollResult {
    this.#dropExpired()
    const request = this.#requests.get(deviceCode)
    if (!request) return { error: 'expired_token' }
    const isEarly = this.#now() - request.polledAt < request.intervalSeconds * 1000 - toleranceMs
    request.polledAt = this.#now()
    if (isEarly) {
      request.intervalSeconds += intervalSeconds
      return { error: 'slow_down', interval: request.intervalSeconds }
    }
    const { state } = request
    if (state === 'pending' || state === 'deciding') return { error: 'authorization_pending' }
    this.#requests.delete(deviceCode)
    return state === 'denied' ? { error: 'access_denied' } : { key: state.key }
  }

  /** The pending request with the code that a user typed. Throws `invalid_request`, and `rate_limited` for a user who guesses. */
  find(typed: string, userId: string): Pick<Request, 'label' | 'requestedAt'> {
    return this.#find(typed, userId)
  }

  /** Denies a request. Throws as {@link find}. */
  deny(typed: string, userId: string): void {
    this.#find(typed, userId).state = 'denied'
  }

  /** Allows a request with the key that `createKey` returns; if it throws, the request stays pending. Throws as {@link find}. */
  async allow(typed: string, userId: string, createKey: (label: string) => Promise<string>): Promise<void> {
    const request = this.#find(typed, userId)
    request.state = 'deciding'
    try {
      request.state = { key: await createKey(request.label) }
    } catch (error) {
      request.state = 'pending'
      throw error
    }
  }

  #find(typed: string, userId: string): Request {
    this.#dropExpired()
    this.#guesses.refuse(userId, this.#now())
    const code = typed.toUpperCase().replaceAll(/[^A-Z]/g, '')
    const request = this.#findPending(code)
    if (request) return request
    this.#guesses.count(userId, this.#now())
    throw new RegistryError(
      'invalid_request',
      'No program waits with this code. Codes are valid for 10 minutes. Check it, or start the sign-in again.',
    )
  }

  #findPending(code: string): Request | undefined {
    return this.#requests.values().find(({ userCode, state }) => userCode === code && state === 'pending')
  }

  #createUserCode(): string {
    for (;;) {
      const code = Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('')
      if (!this.#findPending(code)) return code
    }
  }

  #dropExpired(): void {
    for (const [deviceCode, { requestedAt }] of this.#requests) {
      if (requestedAt + lifetimeMs > this.#now()) return
      this.#requests.delete(deviceCode)
    }
  }
}

/** Networks deliver some polls sooner than the one before. */
const toleranceMs = 1000

const guessesMax = 10
const guessingMs = 10 * 60_000
const guessersMax = 10_000

/** The wrong codes of each user. */
class Guesses {
  readonly #of = new Map<string, { count: number; readonly until: number }>()

  /** Throws `rate_limited` after too many wrong codes. */
  refuse(userId: string, now: number): void {
    const guessed = this.#of.get(userId)
    if (!guessed || guessed.count < guessesMax || guessed.until <= now) return
    const retryAfterSeconds = Math.ceil((guessed.until - now) / 1000)
    throw new RegistryError('rate_limited', `Too many wrong codes. Try again in ${retryAfterSeconds} s.`, {
      retryAfterSeconds,
    })
  }

  count(userId: string, now: number): void {
    const guessed = this.#of.get(userId)
    if (guessed && guessed.until > now) {
      guessed.count += 1
      return
    }
    this.#of.delete(userId)
    if (this.#of.size >= guessersMax) this.#of.delete(this.#of.keys().next().value!)
    this.#of.set(userId, { count: 1, until: now + guessingMs })
  }
}

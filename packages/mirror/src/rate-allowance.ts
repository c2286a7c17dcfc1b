/** The rate limit of one caller, as the server stated it in its last response. */
export interface Allowance {
  readonly remaining: number
  /** Maximum number of requests in one window; undefined if the server does not state it. */
  readonly limit: number | undefined
  /** When the response arrived, and how long from then until the limit is reset, in milliseconds. */
  readonly readAtMs: number
  readonly resetMs: number
  readonly windowMs: number
}

/** Length of the window if the server does not state it: plans limit requests per minute (docs/api.md#limits). */
const windowMsDefault = 60_000
/** The share of the limit left to other clients at the same address, but at most `reserveMax` requests. */
const reserveShare = 0.05
const reserveMax = 10

/**
 * Reads the rate limit from `X-RateLimit-*`, whose `Reset` has no agreed unit (seconds or milliseconds since 1970,
 * seconds from now, or a date), and from `RateLimit` with `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers).
 * Undefined if a response has none of these headers.
 */
export function readAllowance(headers: Headers, nowMs: number): Allowance | undefined {
  const tightest = findTightest(headers.get('ratelimit') ?? '')
  const remaining = readCountHeader(pickHeader(headers, 'remaining')) ?? tightest?.remaining
  if (remaining === undefined) return undefined
  const policy = headers.get('ratelimit-policy') ?? ''
  const windowSeconds = readParameter(policy, 'w')
  return {
    remaining,
    limit: readCountHeader(pickHeader(headers, 'limit')) ?? readParameter(policy, 'q'),
    readAtMs: nowMs,
    resetMs: tightest?.resetMs ?? toResetMs(pickHeader(headers, 'reset'), headers, nowMs) ?? windowMsDefault,
    windowMs: windowSeconds ? windowSeconds * 1000 : windowMsDefault,
  }
}

/** Milliseconds to wait by `Retry-After` (RFC 9110, section 10.2.3). A date is compared with the server's own clock. */
export function readRetryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - toServerTime(headers, nowMs))
}

/** Milliseconds to wait before the next request, so that the rate limit is never used up completely. */
export function toPauseMs(allowance: Allowance | undefined, inFlight: number, nowMs: number): number {
  if (!allowance || allowance.remaining - inFlight > toReserve(allowance)) return 0
  return leftMs(allowance, nowMs)
}

/** The minimum duration of N requests within the rate limit, at `requestMs` milliseconds per request. */
export function estimateMs(
  requests: number,
  requestMs: number,
  allowance: Allowance | undefined,
  nowMs: number,
): number {
  const workMs = requests * requestMs
  if (!allowance) return workMs
  const reserve = toReserve(allowance)
  const later = requests - Math.max(0, allowance.remaining - reserve)
  if (later <= 0) return workMs
  const perWindow = Math.max(1, (allowance.limit ?? allowance.remaining + 1) - reserve)
  const windows = Math.ceil(later / perWindow) - 1
  const lastMs = (later - windows * perWindow) * requestMs
  return Math.max(workMs, leftMs(allowance, nowMs) + windows * allowance.windowMs + lastMs)
}

/** The time until the reset: at most `resetMs`, so that a clock that is set back does not lengthen the wait. */
function leftMs({ readAtMs, resetMs }: Allowance, nowMs: number): number {
  return Math.max(0, Math.min(resetMs, readAtMs + resetMs - nowMs))
}

function toReserve({ limit, remaining }: Allowance): number {
  return Math.min(reserveMax, Math.floor((limit ?? remaining) * reserveShare))
}

function pickHeader(headers: Headers, what: string): string | null {
  return headers.get(`x-ratelimit-${what}`) ?? headers.get(`ratelimit-${what}`)
}

function readCountHeader(value: string | null): number | undefined {
  return value !== null && /^\d{1,12}$/.test(value.trim()) ? Number(value) : undefined
}

/** The rate limit that is used up first, if the header lists several. */
function findTightest(value: string): { remaining: number; resetMs: number | undefined } | undefined {
  const items = value.split(',').flatMap((item) => {
    const remaining = readParameter(item, 'r')
    const seconds = readParameter(item, 't')
    return remaining === undefined ? [] : [{ remaining, resetMs: seconds === undefined ? undefined : seconds * 1000 }]
  })
  return items.toSorted((a, b) => a.remaining - b.remaining)[0]
}

function readParameter(value: string, name: string): number | undefined {
  const found = value.match(new RegExp(`;\\s*${name}=(\\d{1,9})(?![\\d.])`))
  return found ? Number(found[1]) : undefined
}

/**
 * Converts a reset time to milliseconds from now. A number from 10^11 on is milliseconds since 1970, a number from 10^9
 * on is seconds since 1970, and a smaller number is seconds from now.
 */
function toResetMs(value: string | null, headers: Headers, nowMs: number): number | undefined {
  if (value === null) return undefined
  const number = /^\d{1,15}(?:\.\d{1,9})?$/.test(value.trim()) ? Number(value) : undefined
  if (number !== undefined && number < 1e9) return number * 1000
  const at = number === undefined ? Date.parse(value) : number < 1e11 ? number * 1000 : number
  return Number.isNaN(at) ? undefined : Math.max(0, at - toServerTime(headers, nowMs))
}

function toServerTime(headers: Headers, nowMs: number): number {
  const date = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(date) ? nowMs : date
}

import { inflateSync, unzipSync } from 'node:zlib'
import type { Encoded } from './decode.ts'

const runCharactersMin = 20
/** A run of this length may continue on the next line. */
const wrappedCharactersMin = 40
/** Longest run that is decoded. */
export const runCharactersMax = 1024 * 1024
const inflatedBytesMax = 256 * 1024
/** Number of characters that decide whether a run is worth decoding. */
const tasteCharacters = 64

/** 1 for the digits of base64, base64url and hex. */
export const isInRun = new Uint8Array(65_536)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') {
  isInRun[character.charCodeAt(0)] = 1
}

/** Decodes texts in base64 (also base64url and wrapped) and in plain hexadecimal digits. */
export function* findRuns(text: string, _: unknown, units: Uint16Array): Generator<Encoded> {
  for (let start = findRun(units, 0); start < text.length;) {
    const lineEnd = findRunEnd(units, start)
    const end = lineEnd - start >= wrappedCharactersMin ? findWrappedEnd(text, start, lineEnd) : lineEnd
    const found = decodeRun(text.slice(start, end))
    if (found) yield { ...found, start, end, isHidden: true }
    start = findRun(units, end)
  }
}

/** Finds the start of the next run. Jumps from one position to the next that any long enough run would cover. */
function findRun(units: Uint16Array, from: number): number {
  const textEnd = units.length - 1
  let at = from + runCharactersMin - 1
  while (at < textEnd) {
    let start = at
    while (start >= from && isInRun[units[start]!] === 1 && at - start < runCharactersMin) start--
    if (at - start === runCharactersMin || start < from) return start + 1
    at = start + runCharactersMin
  }
  return textEnd
}

function findRunEnd(units: Uint16Array, start: number): number {
  let end = start
  while (isInRun[units[end]!] === 1) end++
  return end
}

/** Finds the end of a run from its first line: lines of the same kind follow directly. */
function findWrappedEnd(text: string, start: number, lineEnd: number): number {
  let end = lineEnd
  while (end - start < runCharactersMax) {
    wrapPattern.lastIndex = end
    const next = wrapPattern.exec(text)
    if (!next) return end
    end = wrapPattern.lastIndex
  }
  return end
}

const wrapPattern =
  /["']?[ \t]{0,2}\\?\r?\n[ \t]{0,16}["']?[A-Za-z0-9+/_-]{4,512}={0,6}(?=["']?[ \t]*\\?(?:\r?\n|$|["')]))/y

/** Decodes hex, base64 or base32; undefined if the result is not a text. */
export function decodeRun(run: string): { text: string; form: string } | undefined {
  const compact = run.replace(/[\s"'\\]/g, '')
  if (/^(?:0x)?[\da-f]+$/i.test(compact)) {
    const text = compact.length % 2 === 0 ? toText(compact.replace(/^0x/i, ''), 'hex') : undefined
    if (text) return { text, form: 'hex' }
  }
  const text = toText(compact, 'base64')
  if (text !== undefined) return { text, form: 'base64' }
  // Reversed, the padding comes first and is not part of the run.
  const form = /^[A-Z2-7]+=*$/.test(compact) ? 'base32' : 'reversed'
  const other = form === 'base32' ? fromBase32(compact.slice(0, runCharactersMax)) : fromReversed(compact)
  return other === undefined ? undefined : { text: other, form }
}

function fromReversed(run: string): string | undefined {
  if (run.length < wrappedCharactersMin || !(/\d/.test(run) && /[a-z]/.test(run) && /[A-Z]/.test(run))) return undefined
  const taste = reverse(run.slice(-tasteCharacters))
  if (run.length > tasteCharacters && toText(taste, 'base64') === undefined) return undefined
  return toText(reverse(run.slice(-runCharactersMax)), 'base64')
}

function reverse(run: string): string {
  return run.split('').toReversed().join('')
}

/** Five bits for each letter or digit (RFC 4648, 6). */
function fromBase32(run: string): string | undefined {
  const bytes: number[] = []
  let [bits, size] = [0, 0]
  for (const digit of run.replace(/=+$/, '')) {
    const value = digit >= 'A' ? digit.charCodeAt(0) - 65 : Number(digit) + 24
    bits = ((bits << 5) | value) & 0xffff
    size += 5
    if (size < 8) continue
    size -= 8
    bytes.push((bits >> size) & 0xff)
  }
  const text = Buffer.from(bytes).toString()
  return isReadable(text) ? text : undefined
}

function toText(run: string, encoding: 'base64' | 'hex'): string | undefined {
  const taste = Buffer.from(run.slice(0, tasteCharacters), encoding)
  if (isDeflated(taste)) return inflate(Buffer.from(run, encoding))
  const isWide = taste.length >= 8 && taste.every((byte, index) => index % 2 === 0 || byte === 0)
  if (!isWide && taste.subarray(0, -1).some(isControl)) return undefined
  const decode = (bytes: Buffer) => bytes.toString(isWide ? 'utf16le' : 'utf8')
  // The last character of the sample may be cut in half.
  if (!isReadable(decode(taste).slice(0, -1))) return undefined
  const text = decode(Buffer.from(run.slice(0, runCharactersMax), encoding))
  return isReadable(text) ? text : undefined
}

/** One control character in the sample is already more than a readable text may have. */
function isControl(byte: number): boolean {
  return (byte < 32 && byte !== 9 && byte !== 10 && byte !== 13) || byte === 127
}

function isDeflated([first, second]: Uint8Array): boolean {
  return (first === 0x1f && second === 0x8b) || (first === 0x78 && [0x01, 0x5e, 0x9c, 0xda].includes(second!))
}

function inflate(bytes: Buffer): string | undefined {
  try {
    const inflated = (bytes[0] === 0x78 ? inflateSync : unzipSync)(bytes, { maxOutputLength: inflatedBytesMax })
    const text = inflated.toString()
    return isReadable(text) ? text : undefined
  } catch {
    return undefined
  }
}

const unreadableShareMax = 0.02

const unreadablePattern = /[\p{Cc}\ufffd]/gu

/** Whether a decoded text is really text: almost no characters that never occur in text. */
function isReadable(text: string): boolean {
  const unreadable = text.replace(/[\t\n\r]/g, ' ').match(unreadablePattern)?.length ?? 0
  return text.length > 0 && unreadable <= text.length * unreadableShareMax && /[a-z]{3}/i.test(text)
}

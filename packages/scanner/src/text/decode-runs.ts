import { inflateSync, unzipSync } from 'node:zlib'
import { toCodeUnits } from './code-units.ts'
import type { Encoded } from './encoded.ts'

const runCharactersMin = 20
/** A run of this length may continue on the next line. */
const wrappedCharactersMin = 40
/** Longest run that is decoded. */
const runCharactersMax = 1024 * 1024
const inflatedBytesMax = 256 * 1024
/** Number of characters that decide whether a run is worth decoding. */
const tasteCharacters = 64

/** 1 for the digits of base64, base64url and hex. */
const isInRun = new Uint8Array(65_536)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') {
  isInRun[character.charCodeAt(0)] = 1
}

/** Decodes texts in base64 (also base64url and wrapped) and in plain hexadecimal digits. */
export function* findRuns(text: string): Generator<Encoded> {
  const units = toCodeUnits(text)
  for (let start = findRun(units, 0); start < text.length;) {
    const lineEnd = findRunEnd(units, start)
    const end = lineEnd - start >= wrappedCharactersMin ? findWrappedEnd(text, start, lineEnd) : lineEnd
    const found = decodeRun(text.slice(start, end))
    if (found) yield { ...found, start, end }
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

/** Decodes hex or base64; undefined if the result is not a text. */
function decodeRun(run: string): { text: string; form: string } | undefined {
  const compact = run.replace(/[\s"'\\]/g, '').replace(/^0x(?=[\da-f]+$)/i, '')
  const isHex = compact.length % 2 === 0 && /^[\da-f]+$/i.test(compact)
  for (const form of isHex ? (['hex', 'base64'] as const) : (['base64'] as const)) {
    const text = toText(compact, form)
    if (text !== undefined) return { text, form }
  }
  return undefined
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

import { brotliDecompressSync, inflateRawSync, inflateSync, unzipSync } from 'node:zlib'
import { rotateText } from '../text/encodings.ts'
import { textCharactersMax } from './values.ts'

const inflate = (unpack: (bytes: Buffer, options: { maxOutputLength: number }) => Buffer) => (bytes: string) =>
  unpack(Buffer.from(bytes, 'latin1'), { maxOutputLength: textCharactersMax }).toString('latin1')

/** Decoders of texts, or of bytes with one character per byte. They return undefined or throw if they cannot decode. */
const decoders = {
  base64: (text) => Buffer.from(text, 'base64').toString('latin1'),
  hex: (text) =>
    /^[\s\da-f]*$/i.test(text) ? Buffer.from(text.replace(/\s/g, ''), 'hex').toString('latin1') : undefined,
  url: (text) => decodeURIComponent(text),
  escapes: (text) =>
    text.replace(/%u([\da-f]{4})|%([\da-f]{2})/gi, (_, u = '', x = '') => String.fromCharCode(parseInt(u || x, 16))),
  rot13: rotateText,
  deflate: inflate(inflateSync),
  'raw deflate': inflate(inflateRawSync),
  gzip: inflate(unzipSync),
  brotli: inflate(brotliDecompressSync),
} satisfies Record<string, Decoder>

type Decoder = (text: string) => string | undefined
/** An encoding. The last five are not decoded. */
export type Encoding = keyof typeof decoders | 'base85' | 'lzma' | 'bzip2' | 'marshal' | 'cipher'

/** Decodes a text; undefined if it is not a text of the encoding. */
export function decodeAs(encoding: Encoding, text: string): string | undefined {
  try {
    return (decoders as Partial<Record<Encoding, Decoder>>)[encoding]?.(text)
  } catch {
    return undefined
  }
}

/** Decodes bytes, given as one character per byte, as UTF-8. Returns any other text as it is. */
export function toUtf8(bytes: string): string {
  return /[\x80-\xff]/.test(bytes) && !/[^\0-\xff]/.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes
}

const escapePattern =
  /\\(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|u\{([\dA-Fa-f]{1,6})\}|U([\dA-Fa-f]{8})|([0-7]{1,3})|(\r?\n)|([^]))/g
const letters: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07' }

/** The value of a string literal of Python or JavaScript, given its source without the quotes. */
export function readEscapes(source: string): string {
  if (!source.includes('\\')) return source
  return source.replace(
    escapePattern,
    (_, x?: string, u?: string, braced?: string, long?: string, octal?: string, newline?: string, letter?: string) => {
      const hex = x ?? u ?? braced ?? long
      if (hex !== undefined) return toCodePoint(Number.parseInt(hex, 16))
      if (octal !== undefined) return toCodePoint(Number.parseInt(octal, 8))
      return newline === undefined ? (letters[letter!] ?? letter!) : ''
    },
  )
}

function toCodePoint(point: number): string {
  return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd'
}

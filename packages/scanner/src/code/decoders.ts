import { brotliDecompressSync, inflateRawSync, inflateSync, unzipSync } from 'node:zlib'
import { textCharactersMax } from './values.ts'

const inflate = (unpack: (bytes: Buffer, options: { maxOutputLength: number }) => Buffer) => (bytes: string) =>
  unpack(Buffer.from(bytes, 'latin1'), { maxOutputLength: textCharactersMax }).toString('latin1')

/** Decoders of texts, and of bytes with one character each. They return undefined, or throw, if they cannot decode. */
const decoders = {
  base64: (text) => Buffer.from(text, 'base64').toString('latin1'),
  hex: (text) =>
    /^[\s\da-f]*$/i.test(text) ? Buffer.from(text.replace(/\s/g, ''), 'hex').toString('latin1') : undefined,
  base32: decodeBase32,
  base85: decodeBase85,
  url: (text) => decodeURIComponent(text),
  escapes: (text) =>
    text.replace(/%u([\da-f]{4})|%([\da-f]{2})/gi, (_, u, x) => String.fromCharCode(parseInt((u ?? x) as string, 16))),
  rot13: (text) =>
    text.replace(/[a-z]/gi, (letter) => {
      const first = letter <= 'Z' ? 65 : 97
      return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first)
    }),
  deflate: inflate(inflateSync),
  'raw deflate': inflate(inflateRawSync),
  gzip: inflate(unzipSync),
  brotli: inflate(brotliDecompressSync),
  /** Formats that are not decoded. */
  lzma: () => undefined,
  bzip2: () => undefined,
  marshal: () => undefined,
  cipher: () => undefined,
} satisfies Record<string, (text: string) => string | undefined>

export type Encoding = keyof typeof decoders

/** Decodes a text; undefined if it is not a text of the encoding. */
export function decode(encoding: Encoding, text: string): string | undefined {
  try {
    return decoders[encoding](text)
  } catch {
    return undefined
  }
}

/** Bytes with one character each, as the text that they encode in UTF-8. */
export function toUtf8(bytes: string): string {
  return /[\x80-\xff]/.test(bytes) && !/[^\0-\xff]/.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes
}

function decodeBase32(text: string): string | undefined {
  let bits = ''
  for (const character of text.toUpperCase().replace(/[=\s]/g, '')) {
    const value = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(character)
    if (value === -1) return undefined
    bits += value.toString(2).padStart(5, '0')
  }
  return (bits.match(/[01]{8}/g) ?? []).map((byte) => String.fromCharCode(parseInt(byte, 2))).join('')
}

const base85 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'

/** As `base64.b85decode` of Python. */
function decodeBase85(text: string): string | undefined {
  let bytes = ''
  for (let at = 0; at < text.length; at += 5) {
    const group = text.slice(at, at + 5)
    const digits = [...group.padEnd(5, '~')].map((character) => base85.indexOf(character))
    if (digits.includes(-1)) return undefined
    const value = digits.reduce((sum, digit) => sum * 85 + digit, 0)
    const four = [24, 16, 8, 0].map((shift) => String.fromCharCode((value / 2 ** shift) & 255)).join('')
    bytes += four.slice(0, group.length - 1)
  }
  return bytes
}

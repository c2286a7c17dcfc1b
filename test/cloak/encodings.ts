import { deflateSync, gzipSync } from 'node:zlib'
import { onBody, wrap, type Cloak } from './cloak.ts'

const base64 = (text: string | Uint8Array) => Buffer.from(text as string).toString('base64')
const hex = (text: string) => Buffer.from(text).toString('hex')
/** Mentions the encoding; an order to decode it would be a finding of its own. */
const ask = (how: string, data: string) => `# Guide\n\nThis is ${how}:\n\n\`\`\`\n${data}\n\`\`\`\n`

/** Rewrites each letter and digit. */
const mapLetters = (text: string, rewrite: (code: number) => string) =>
  text.replace(/[A-Za-z\d]/g, (letter) => rewrite(letter.charCodeAt(0)))

/** Encodings of the whole text, one or several on top of each other. */
export const encodings: readonly Cloak[] = [
  onBody('base64', 'base64 in lines of 76 characters', (body) => ask('base64', wrap(base64(body)))),
  onBody('base64url', 'base64 for URLs in one line', (body) => ask('text', Buffer.from(body).toString('base64url'))),
  onBody('base64 in base64', 'base64, twice', (body) => ask('text, twice', base64(base64(body)))),
  onBody('gzip in base64', 'compressed, then base64', (body) => ask('gzip', wrap(base64(gzipSync(body))))),
  onBody('zlib in base64 in hex', 'three layers', (body) => ask('text', hex(base64(deflateSync(body))))),
  onBody('base64 in pieces', 'base64 with a space after every eight characters', (body) =>
    ask('base64', base64(body).replace(/.{8}/g, '$& ')),
  ),
  onBody('base64 in a JSON list', 'base64 as a list of short strings', (body) =>
    ask('list', JSON.stringify(base64(body).match(/.{1,16}/g), undefined, 2)),
  ),
  onBody('base32', 'base32 (RFC 4648, 6)', (body) => ask('base32', wrap(toBase32(Buffer.from(body))))),
  onBody('hex', 'hexadecimal digits', (body) => ask('hex', wrap(hex(body)))),
  onBody('hex in pairs', 'hexadecimal digits in pairs, as hex viewers print them', (body) =>
    ask('hex', hex(body).replace(/../g, '$& ').replace(/.{75}/g, '$&\n')),
  ),
  onBody('binary digits', 'eight binary digits for each byte', (body) =>
    ask('text', [...Buffer.from(body)].map((byte) => byte.toString(2).padStart(8, '0')).join(' ')),
  ),
  onBody('decimal codes', 'the number of each character', (body) =>
    ask('list of character codes', [...Buffer.from(body)].join(', ')),
  ),
  onBody('uuencode', 'uuencode, as shell archives of old', (body) =>
    ask('with uudecode', toUuencode(Buffer.from(body))),
  ),
  onBody('quoted-printable', 'every letter escaped as in mail (RFC 2045, 6.7)', (body) =>
    mapLetters(body, (code) => `=${code.toString(16).toUpperCase()}`),
  ),
  onBody('URL', 'every letter escaped as in URLs', (body) => mapLetters(body, (code) => `%${code.toString(16)}`)),
  onBody('HTML entities', 'every letter as a numbered entity', (body) => mapLetters(body, (code) => `&#${code};`)),
  onBody('one entity a word', 'only the first letter of each word as an entity', (body) =>
    body.replace(/\b[A-Za-z]/g, (letter) => `&#x${letter.charCodeAt(0).toString(16)};`),
  ),
  onBody('unicode escapes', 'every letter as in JSON', (body) =>
    mapLetters(body, (code) => `\\u${code.toString(16).padStart(4, '0')}`),
  ),
  onBody('hex escapes', 'every letter as in C', (body) => mapLetters(body, (code) => `\\x${code.toString(16)}`)),
  onBody('rot13', 'ROT13, named', (body) => ask('ROT13', rotate(body, 13))),
  onBody(
    'rot13, not named',
    'ROT13, without its name',
    (body) => `Shift each letter by half the alphabet:\n\n${rotate(body, 13)}`,
  ),
  onBody('Caesar by three', 'letters moved by three', (body) => ask('Caesar cipher', rotate(body, 3))),
  onBody('atbash', 'the alphabet reversed', (body) =>
    ask(
      'Atbash',
      mapLetters(body, (code) =>
        code < 65 ? String.fromCharCode(code) : String.fromCharCode((code < 97 ? 155 : 219) - code),
      ),
    ),
  ),
  onBody('reversed lines', 'each line from its end', (body) =>
    ask('after you reversed each line', body.split('\n').map(reverse).join('\n')),
  ),
  onBody('reversed words', 'each word from its end', (body) =>
    ask('after you reversed each word', body.replace(/[A-Za-z]+/g, reverse)),
  ),
  onBody('reversed base64', 'base64 from its end', (body) => ask('after you reversed it', reverse(base64(body)))),
]

const reverse = (text: string) => [...text].toReversed().join('')

function rotate(text: string, by: number): string {
  return text.replace(/[A-Za-z]/g, (letter) => {
    const first = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - first + by) % 26) + first)
  })
}

function toBase32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(/.{1,5}/g) ?? []
  const text = digits.map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[parseInt(five.padEnd(5, '0'), 2)]).join('')
  return text.padEnd(Math.ceil(text.length / 8) * 8, '=')
}

/** Lines of a length and four characters for every three bytes (POSIX, uuencode). */
export function toUuencode(bytes: Buffer): string {
  const lines = ['begin 644 data']
  for (let at = 0; at < bytes.length; at += 45) {
    const part = bytes.subarray(at, at + 45)
    const padded = Buffer.concat([part, Buffer.alloc((3 - (part.length % 3)) % 3)])
    const sextets = Array.from({ length: (padded.length / 3) * 4 }, (_, i) => {
      const three = padded.readUIntBE(Math.floor(i / 4) * 3, 3)
      return (three >> (18 - 6 * (i % 4))) & 63
    })
    lines.push(
      [part.length, ...sextets].map((sextet) => (sextet === 0 ? '`' : String.fromCharCode(32 + sextet))).join(''),
    )
  }
  return [...lines, '`', 'end', ''].join('\n')
}

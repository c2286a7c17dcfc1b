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
  onBody('hex', 'hexadecimal digits', (body) => ask('hex', wrap(hex(body)))),
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
  onBody('reversed lines', 'each line from its end', (body) =>
    ask('after you reversed each line', body.split('\n').map(reverse).join('\n')),
  ),
]

const reverse = (text: string) => [...text].toReversed().join('')

function rotate(text: string, by: number): string {
  return text.replace(/[A-Za-z]/g, (letter) => {
    const first = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - first + by) % 26) + first)
  })
}

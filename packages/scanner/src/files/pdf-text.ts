import { readErrorCode } from '@skillstead/protocol'
import { constants, inflateSync } from 'node:zlib'
import type { UnpackBudget } from './unpack.ts'

const streamMark = Buffer.from('stream')
/** Maximum number of streams of one document that are read. */
const streamsMax = 2000

/**
 * Reads the strings that the compressed streams of a PDF show (ISO 32000-1, 7.3.4.2 and 9.4.3), as far as its fonts use
 * Latin letters. Other streams are visible in the bytes of the file. `cut`: why a part was not read, as a sentence.
 */
export function readPdf(bytes: Uint8Array, budget: UnpackBudget): { text: string; cut: string | undefined } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const texts: string[] = []
  let count = 0
  for (let at = buffer.indexOf(streamMark); at !== -1; at = buffer.indexOf(streamMark, at)) {
    at += streamMark.length
    const start = at + (buffer[at] === 13 ? 1 : 0) + (buffer[at] === 13 || buffer[at] === 10 ? 1 : 0)
    // A zlib header has the method deflate, and a checksum of its two bytes (RFC 1950, 2.2).
    if (start + 2 > buffer.length || (buffer[start]! & 0x0f) !== 8 || buffer.readUInt16BE(start) % 31 !== 0) continue
    if (++count > streamsMax) return { text: texts.join('\n'), cut: 'It has too many streams to be inspected.' }
    const end = buffer.indexOf('endstream', start)
    const data = buffer.subarray(start, end === -1 ? buffer.length : end)
    const stream = inflateSafely(data, budget)
    if (stream === 'too large') return { text: texts.join('\n'), cut: 'It contains too much to be inspected.' }
    texts.push(toShownText(stream))
    if (end !== -1) at = end + 'endstream'.length
  }
  const isEncrypted = buffer.includes('/Encrypt ') && count > 0
  return { text: texts.filter(Boolean).join('\n'), cut: isEncrypted ? 'It is encrypted.' : undefined }
}

function inflateSafely(data: Buffer, budget: UnpackBudget): string | 'too large' {
  try {
    const bytes = inflateSync(data, { maxOutputLength: budget.bytes + 1, finishFlush: constants.Z_SYNC_FLUSH })
    budget.take(bytes.length)
    return bytes.toString('latin1')
  } catch (error) {
    return readErrorCode(error)?.startsWith('Z_') ? '' : 'too large'
  }
}

const shownPattern =
  /\((?:[^()\\]|\\[^]){0,10000}\)|<[\da-fA-F\s]{2,10000}>|-?\d{1,6}(?:\.\d{1,4})?|T[*DdJjm]|BT|ET|['"]/g
/** A lower number between two shown strings is a space. Unit: thousandths of the font size. */
const gapMin = -180

/** Concatenates the strings that a content stream shows, with line breaks where it moves to another line. */
function toShownText(stream: string): string {
  if (!stream.includes('BT')) return ''
  let text = ''
  for (const [token] of stream.matchAll(shownPattern)) {
    if (token.startsWith('(')) text += unescapePdfText(token.slice(1, -1))
    else if (token.startsWith('<'))
      text += Buffer.from(token.replace(/[<>\s]/g, ''), 'hex')
        .toString('latin1')
        .replaceAll('\0', '')
    else if (/^T[*Dd]$|^ET$/.test(token)) text += '\n'
    else if (token.startsWith('-') && Number(token) < gapMin) text += ' '
  }
  return text.trim()
}

function unescapePdfText(text: string): string {
  return text.replace(/\\(?:([0-7]{1,3})|\r?\n|([^]))/g, (_, octal?: string, other?: string) =>
    octal === undefined
      ? ({ n: '\n', r: '\n', t: '\t' }[other ?? ''] ?? other ?? '')
      : String.fromCharCode(Number.parseInt(octal, 8)),
  )
}

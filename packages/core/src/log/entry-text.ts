import canonicalize from 'canonicalize'
import { limits } from '@skillstead/protocol'

/** An entry of the public log with its number, as published. */
export interface LogEntry {
  readonly seq: number
  readonly type: string
  readonly at: string
  readonly subject: string
  readonly digest: string | null
  readonly data: Record<string, unknown>
}

/**
 * Fields that are shortened, in this order, until an oversized entry fits into an entry bundle; the entry's `cut` names
 * them. The list of files is dropped, because the version's digest identifies it; other fields are shortened to a
 * number of bytes of JSON. The sizes leave room for the fields that are always short: names, ids, times.
 */
const cuts: readonly { readonly field: string; readonly bytesMax: number }[] = [
  { field: 'files', bytesMax: 0 },
  { field: 'changelog', bytesMax: 16_384 },
  { field: 'description', bytesMax: 8_192 },
  { field: 'keywords', bytesMax: 8_192 },
  { field: 'repository', bytesMax: 2_048 },
  { field: 'deprecationMessage', bytesMax: 2_048 },
  { field: 'displayName', bytesMax: 2_048 },
  { field: 'license', bytesMax: 2_048 },
  { field: 'category', bytesMax: 2_048 },
]

/**
 * Encodes an entry as canonical JSON (RFC 8785): the bytes that the log commits to. Never longer than an entry bundle
 * allows.
 */
export function toEntryText(entry: LogEntry): string {
  let text = toCanonicalJson(entry)
  let { data } = entry
  for (const { field, bytesMax } of cuts) {
    if (fitsEntry(text)) return text
    const value = data[field]
    if (value === undefined || jsonBytes(value) <= bytesMax) continue
    const cut = [...(Array.isArray(data['cut']) ? data['cut'] : []), field]
    data = { ...data, [field]: shortenField(value, bytesMax), cut }
    text = toCanonicalJson({ ...entry, data })
  }
  if (!fitsEntry(text))
    throw new TypeError(`The log entry of ${entry.subject} exceeds ${limits.logEntryBytesMax} bytes.`)
  return text
}

/** Length of a value as JSON, in bytes of UTF-8. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

function toCanonicalJson(entry: LogEntry): string {
  const text = canonicalize(entry)
  if (text === undefined) throw new TypeError('A log entry must be a JSON value.')
  return text
}

function fitsEntry(text: string): boolean {
  // Fast path: UTF-8 takes at most 3 bytes for each UTF-16 code unit.
  return text.length * 3 <= limits.logEntryBytesMax || Buffer.byteLength(text) <= limits.logEntryBytesMax
}

function shortenField(value: unknown, bytesMax: number): unknown {
  if (typeof value === 'string') return `${takeFitting(value, quotesBytes, bytesMax - markBytes).join('')}…`
  return bytesMax > 0 && Array.isArray(value) ? takeFitting(value, -commaBytes, bytesMax - quotesBytes) : null
}

const quotesBytes = 2
const commaBytes = 1
/** Bytes of the quotes around a text and of the ellipsis after it. */
const markBytes = 5

/**
 * Takes the first characters of a text, or items of a list, that fit into `bytesMax`. `spared` is the number of bytes
 * that a part saves compared with its own JSON, such as quotes.
 */
function takeFitting(parts: Iterable<unknown>, spared: number, bytesMax: number): unknown[] {
  const taken: unknown[] = []
  let bytes = 0
  for (const part of parts) {
    bytes += jsonBytes(part) - spared
    if (bytes > bytesMax) break
    taken.push(part)
  }
  return taken
}

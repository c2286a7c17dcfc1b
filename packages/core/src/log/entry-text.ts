import canonicalize from 'canonicalize'
import { limits } from '@skillstead/protocol'

/** An entry of the public log with its number, as it is told. */
export interface LogEntry {
  readonly seq: number
  readonly type: string
  readonly at: string
  readonly subject: string
  readonly digest: string | null
  readonly data: Record<string, unknown>
}

/**
 * What is shortened in an entry that no bundle could hold, in this order and only until it fits; `cut` names it in the
 * entry. The list of files is left out, for the version's digest leads to it; of the others so many bytes of JSON stay.
 * They leave room for what is always short: names, ids, times.
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
 * The entry as canonical JSON (RFC 8785): the bytes that the log commits to, never more than a bundle of the
 * transparency log can hold.
 */
export function toEntryText(entry: LogEntry): string {
  let text = toCanonical(entry)
  let { data } = entry
  for (const { field, bytesMax } of cuts) {
    if (fits(text)) return text
    const value = data[field]
    if (value === undefined || jsonBytes(value) <= bytesMax) continue
    const cut = [...((data['cut'] as string[] | undefined) ?? []), field]
    data = { ...data, [field]: shorten(value, bytesMax), cut }
    text = toCanonical({ ...entry, data })
  }
  if (!fits(text)) throw new TypeError(`The log entry of ${entry.subject} is longer than an entry may be.`)
  return text
}

/** How long a value is as JSON, in UTF-8. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

function toCanonical(entry: LogEntry): string {
  const text = canonicalize(entry)
  if (text === undefined) throw new TypeError('A log entry must be a JSON value.')
  return text
}

function fits(text: string): boolean {
  // Most are short enough however their characters are encoded.
  return text.length * 3 <= limits.logEntryBytesMax || Buffer.byteLength(text) <= limits.logEntryBytesMax
}

function shorten(value: unknown, bytesMax: number): unknown {
  if (typeof value === 'string') return `${takeFitting(value, quotesBytes, bytesMax - markBytes).join('')}…`
  return bytesMax > 0 && Array.isArray(value) ? takeFitting(value, -commaBytes, bytesMax - quotesBytes) : null
}

const quotesBytes = 2
const commaBytes = 1
/** The quotes of a text, and the sign that it went on. */
const markBytes = 5

/** As many characters of a text, or items of a list, as fit; `spared` is what each takes less than by itself. */
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

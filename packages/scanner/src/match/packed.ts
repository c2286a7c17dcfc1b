import { deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * Writes data as a short text of ASCII characters, which takes less time to load than a megabyte of JSON in a module.
 */
export function pack(parts: readonly object[]): string {
  const lines = parts.map((part) => JSON.stringify(part).replace(/[\x80-\uffff]/g, escapeUnit))
  return deflateRawSync(lines.join('\n'), { level: 9 }).toString('base64')
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Reads what {@link pack} wrote: the JSON of each part. */
export function unpack(packed: string): string[] {
  return inflateRawSync(Buffer.from(packed, 'base64'), { chunkSize }).toString('latin1').split('\n')
}

/** More than the usual size of the data, so that it is decompressed in one step. */
const chunkSize = 1024 * 1024

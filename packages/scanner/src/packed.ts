import { deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * Writes data as a short text of ASCII characters: a module with a megabyte of JSON takes longer to load than such a
 * text to be read.
 */
export function pack(data: object): string {
  const json = JSON.stringify(data).replace(/[\x80-\uffff]/g, escapeUnit)
  return deflateRawSync(json, { level: 9 }).toString('base64')
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Reads what {@link pack} wrote. */
export function unpack<T>(packed: string): T {
  return JSON.parse(inflateRawSync(Buffer.from(packed, 'base64')).toString('latin1')) as T
}

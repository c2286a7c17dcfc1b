/** Thrown if an archive, or a part of one, cannot be inspected. Its message is a sentence for the report. */
export class NotInspected extends Error {}

/** A file of an archive. */
export interface UnpackedEntry {
  readonly name: string
  /** Undefined for an entry that needs a password. */
  readonly bytes: Uint8Array | undefined
}

const blockBytes = 512

/** Whether bytes begin with a tar header with a valid checksum. */
export function isTar(bytes: Uint8Array): boolean {
  return bytes.length >= blockBytes && hasChecksum(bytes.subarray(0, blockBytes))
}

/**
 * Reads the plain files of a tar (POSIX pax) synchronously in one pass. Throws {@link NotInspected} if readers may
 * disagree about its contents.
 */
export function* readTarEntries(bytes: Uint8Array): Generator<UnpackedEntry> {
  let longName: string | undefined
  let at = 0
  while (at < bytes.length && bytes[at] !== 0) {
    const header = bytes.subarray(at, at + blockBytes)
    if (header.length < blockBytes || !hasChecksum(header)) throw damagedTar()
    const size = toTarSize(header)
    const data = bytes.subarray(at + blockBytes, at + blockBytes + size)
    if (data.length < size) throw damagedTar()
    at += blockBytes + Math.ceil(size / blockBytes) * blockBytes
    const type = String.fromCharCode(header[156]!)
    if (type === 'L') longName = decodeEntryText(data)
    else if (type === 'x') longName = toPaxPath(decodeEntryText(data)) ?? longName
    else {
      if (type === '0' || type === '\0' || type === '7') yield { name: longName ?? toTarName(header), bytes: data }
      // Links, folders and devices have no content; an unknown type may have any.
      else if (!/[1-6gK]/.test(type)) throw new NotInspected('The archive has an entry of an unknown type.')
      if (type !== 'K' && type !== 'g') longName = undefined
    }
  }
  if (bytes.subarray(at).some((byte) => byte !== 0))
    throw new NotInspected('There are bytes after the end of the archive.')
}

function hasChecksum(header: Uint8Array): boolean {
  const declared = toOctal(header.subarray(148, 156))
  if (declared === undefined) return false
  // The checksum field itself counts as eight spaces.
  const sum = header.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 32 : byte), 0)
  return declared === sum
}

function toTarSize(header: Uint8Array): number {
  const size = toOctal(header.subarray(124, 136))
  if (size === undefined) throw damagedTar()
  return size
}

function toOctal(field: Uint8Array): number | undefined {
  const digits = decodeEntryText(field).trim()
  return /^[0-7]{1,11}$/.test(digits) ? Number.parseInt(digits, 8) : undefined
}

function toTarName(header: Uint8Array): string {
  const name = decodeEntryText(header.subarray(0, 100))
  const isUstar = decodeEntryText(header.subarray(257, 262)) === 'ustar'
  const prefix = isUstar ? decodeEntryText(header.subarray(345, 500)) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

/** The path in a pax header. Rejects a size, because readers without pax would read other bytes. */
function toPaxPath(text: string): string | undefined {
  if (/^\d+ (?:size|GNU\.sparse[\w.]*)=/m.test(text))
    throw new NotInspected('The archive has a sparse file, or an entry with two sizes.')
  return /^\d+ path=(.*)$/m.exec(text)?.[1]
}

/** Reads up to the first NUL. */
function decodeEntryText(bytes: Uint8Array): string {
  const end = bytes.indexOf(0)
  return new TextDecoder().decode(end === -1 ? bytes : bytes.subarray(0, end))
}

function damagedTar(): NotInspected {
  return new NotInspected('The archive is damaged.')
}

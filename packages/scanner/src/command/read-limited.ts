import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { limits, readErrorCode } from '@skillstead/protocol'
import { readFileMode } from '@skillstead/skill-format/archives'

/** The bytes of a file, or the reason, as a sentence, why they were not read. */
export type LimitedRead = { readonly bytes: Uint8Array; readonly executable?: boolean } | { readonly unread: string }

/**
 * Reads a regular file of at most `bytesMax` bytes. Does not wait for pipes and devices. Never throws: files may vanish
 * or change while a folder is read.
 */
export async function readLimited(file: string, bytesMax: number): Promise<LimitedRead> {
  let handle: FileHandle | undefined
  try {
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const stats = await handle.stat()
    if (!stats.isFile()) return { unread: 'It is not a regular file.' }
    if (stats.size > bytesMax) return { unread: toReadProblem('large') }
    // A file may grow while it is read, and files in /proc report no size.
    const bytes = Buffer.alloc(Math.min(Math.max(stats.size, 4096), bytesMax) + 1)
    let length = 0
    for (;;) {
      const { bytesRead } = await handle.read(bytes, length)
      length += bytesRead
      if (bytesRead === 0) return { bytes: bytes.subarray(0, length), ...readFileMode(stats) }
      if (length === bytes.length) return { unread: 'It grew while it was read.' }
    }
  } catch (error) {
    return { unread: toReadProblem(readErrorCode(error)) }
  } finally {
    await handle?.close()
  }
}

/** Why a file was not read, by the error code of the system, or `large`. */
export function toReadProblem(code: string | undefined): string {
  if (code === 'large') return `It is larger than ${limits.fileBytesMax / 1024 / 1024} MiB, the maximum for a file.`
  if (code === 'ENOENT') return 'It vanished before it was read.'
  if (code === 'EACCES' || code === 'EPERM') return 'It cannot be read: permission denied.'
  return `It cannot be read${code === undefined ? '' : `: ${code}`}.`
}

import { readErrorCode } from '@skillstead/protocol'
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Replaces a file atomically: after a crash it has either the new or the old content. Other users may write to the folder,
 * so the temporary file is new: a link with its name would lead to another file.
 */
export function writeWhole(file: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(file), { recursive: true })
  const written = `${file}.${randomBytes(4).toString('hex')}.tmp`
  try {
    writeFileSync(written, content, { mode, flush: true, flag: 'wx' })
    renameSync(written, file)
  } catch (error) {
    rmSync(written, { force: true })
    throw error
  }
}

/** A time in milliseconds, longer than writing a small file takes: a lock that is older is from a killed process. */
const writingMsMax = 10_000
const pauseMs = 20

/**
 * Like {@link writeWhole}, with the content that `make` returns, under a lock: if two processes read and wrote the file
 * concurrently, one would lose the change of the other.
 */
export async function replaceAlone(file: string, make: () => Promise<string>, mode = 0o644): Promise<void> {
  mkdirSync(dirname(file), { recursive: true })
  const written = `${file}.tmp`
  const handle = await openAlone(written, mode)
  try {
    try {
      writeFileSync(handle, await make())
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(written, file)
  } catch (error) {
    rmSync(written, { force: true })
    throw error
  }
}

async function openAlone(written: string, mode: number): Promise<number> {
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      return openSync(written, 'wx', mode)
    } catch (error) {
      if (readErrorCode(error) !== 'EEXIST' || waitedMs > 2 * writingMsMax) throw error
    }
    const stats = statSync(written, { throwIfNoEntry: false })
    if (stats && Date.now() - stats.mtimeMs > writingMsMax) rmSync(written, { force: true })
    else await new Promise((resolve) => void setTimeout(resolve, pauseMs))
  }
}

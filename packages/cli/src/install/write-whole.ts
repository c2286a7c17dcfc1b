import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Writes a file so that there is the whole of it or the former one, whenever the process or the machine ends. */
export function writeWhole(file: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(file), { recursive: true })
  const written = `${file}.${process.pid}.tmp`
  try {
    writeFileSync(written, content, { mode, flush: true })
    renameSync(written, file)
  } catch (error) {
    rmSync(written, { force: true })
    throw error
  }
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let root: string | undefined

/** A new folder that goes when the process does, however a part ends. */
export function makeScratch(name: string): string {
  if (root === undefined) {
    root = mkdtempSync(join(tmpdir(), 'skillstead-bench-'))
    process.once('exit', () => rmSync(root!, { recursive: true, force: true, maxRetries: 5 }))
  }
  return mkdtempSync(join(root, `${name}-`))
}

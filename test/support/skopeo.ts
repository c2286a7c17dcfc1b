import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe } from 'vitest'
import type { Finished } from './cli-harness.ts'

const skopeoPath = ['/usr/bin/skopeo'].find(existsSync)

/** Tests with the real Skopeo, a client of OCI registries; skipped by name where there is none. */
export function describeSkopeo(name: string, work: () => void): void {
  if (!skopeoPath) console.warn(`\nThere is no Skopeo here, so "${name}" is SKIPPED. Debian has it as \`skopeo\`.\n`)
  describe.skipIf(!skopeoPath)(`${name}${skopeoPath ? '' : ' (skipped: needs skopeo)'}`, () => {
    work()
  })
}

/** Runs Skopeo in a folder, without the machine's configuration and credentials. Does not throw if it fails. */
export function runSkopeo(folder: string, args: readonly string[]): Promise<Finished> {
  const env = { PATH: process.env['PATH'], HOME: folder, XDG_RUNTIME_DIR: folder, TMPDIR: folder }
  return new Promise((resolve) => {
    execFile(skopeoPath!, args, { cwd: folder, env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr })
    })
  })
}

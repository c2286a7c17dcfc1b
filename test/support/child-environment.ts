import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The environment of a process that a test starts: it writes to the temporary folder of the run, which is removed. */
export function toChildEnvironment(more: Record<string, string | undefined> = {}) {
  const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env
  return { PATH, TMPDIR, NODE_COMPILE_CACHE, HOME: join(tmpdir(), 'home'), ...more } as NodeJS.ProcessEnv &
    Record<string, string>
}

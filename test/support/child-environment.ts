import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The environment of a process that a test starts: it writes to the temporary folder of the run, which is removed. */
export function toChildEnvironment(more: Record<string, string> = {}) {
  const { PATH, TMPDIR } = process.env
  return { PATH, TMPDIR, HOME: join(tmpdir(), 'home'), ...more } as NodeJS.ProcessEnv & Record<string, string>
}

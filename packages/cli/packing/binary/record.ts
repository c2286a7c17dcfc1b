import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Requests to a node while its code is recorded: the usual first requests of people and programs. */
const firstRequests = ['/readyz', '/', '/api/v1/skills', '/api/v1/skills/none/none']

/**
 * Runs a node from the recording executable, sends it a few requests, and stops it: the functions that ran are those
 * that every start needs. Returns the files of V8's code cache as assets.
 */
export async function recordCompiled(recorder: string, scratch: string): Promise<Record<string, string>> {
  const folder = join(scratch, 'compiled')
  await mkdir(folder)
  const child = spawn(recorder, ['serve', '--port', '0', '--data', join(scratch, 'data'), '--json'], {
    cwd: scratch,
    env: { TMPDIR: scratch, SKILLSTEAD_RECORD_TO: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  try {
    const [line]: (Buffer | number | null)[] = await Promise.race([once(child.stdout, 'data'), ended])
    if (!(line instanceof Buffer))
      throw new Error(`The executable ended before it printed its address: its exit code was ${line}.`)
    const { url }: { url: string } = JSON.parse(String(line))
    for (const path of firstRequests) await (await fetch(url + path)).arrayBuffer()
  } finally {
    child.kill('SIGTERM')
  }
  const [code]: (number | null)[] = await ended
  if (code !== 0) throw new Error(`The executable did not shut down cleanly: its exit code was ${code}.`)
  const names = await readdir(folder)
  return Object.fromEntries(names.map((name) => [`compiled/${name}`, join(folder, name)]))
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { canRun } from './can-run.ts'
import { findFreePort } from './free-port.ts'

/** Whether this machine has nginx. */
export const hasNginx = canRun('nginx', '-v')

/**
 * Starts nginx with the content of an `http` block, and waits until it answers. The content is made for a port and for a
 * folder that nginx may write into. Default of the port: a free one. The end of the test stops it.
 */
export async function startNginx(toContent: (port: number, folder: string) => string, port?: number): Promise<string> {
  const listening = port ?? (await findFreePort())
  const folder = await mkdtemp(join(tmpdir(), 'skillstead-nginx-'))
  // The workers of a root's nginx are another user.
  await chmod(folder, 0o755)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
    .join('\n')
  const log = join(folder, 'error.log')
  const config = `daemon off;\nworker_processes 1;\npid ${join(folder, 'pid')};\nerror_log ${log};
    events {}\nhttp {\naccess_log off;\n${temporary}\n${toContent(listening, folder)}\n}\n`
  const file = join(folder, 'nginx.conf')
  await writeFile(file, config)
  const nginx = spawn('nginx', ['-p', folder, '-c', file, '-e', log], { stdio: 'ignore' })
  onTestFinished(async () => {
    const ended = once(nginx, 'exit')
    if (nginx.kill()) await ended
    await rm(folder, { recursive: true })
  })
  const url = `http://127.0.0.1:${listening}`
  while (!(await isOpen(url))) {
    if (nginx.exitCode !== null || nginx.signalCode !== null) throw new Error(await readFile(log, 'utf8'))
    await sleep(50)
  }
  return url
}

const isOpen = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  )

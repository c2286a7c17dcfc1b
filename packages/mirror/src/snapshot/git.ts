import { spawn, type ChildProcess } from 'node:child_process'
import { devNull } from 'node:os'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { RegistryError } from '@skillstead/protocol'
import { hidePassword } from '../hide-password.ts'

export interface GitOptions {
  /** The name or path of the git program. */
  readonly program?: string
  /** Maximum duration of the call, in milliseconds. */
  readonly timeoutMs?: number
  /** The repository's folder, in which git runs. */
  readonly folder?: string
  readonly input?: string
  /** Maximum size of the output, in bytes. */
  readonly outputBytesMax?: number
  /** Maximum size of `folder` in bytes, checked while git runs. */
  readonly folderBytesMax?: number
  /** Whether git may read only repositories of this machine. Default: only repositories of other machines. */
  readonly isLocal?: boolean
  readonly signal?: AbortSignal
}

const timeoutMsDefault = 10 * 60_000
const outputBytesMaxDefault = 64 * 1024 * 1024
const errorBytesMax = 16 * 1024
const lookMs = 500

/** Allowed transports of remote repositories: others run programs (`ext::`) or read files of this machine. */
const remoteProtocols = ['https', 'http', 'ssh']

/**
 * Runs git and returns its output. Git shows no prompts, runs no hooks, follows no redirects, and reads a repository of
 * this machine only if `isLocal` is set. Throws `upstream_failed` with git's last error message, `upstream_timeout`,
 * and `not_implemented` if git is not installed.
 */
export async function runGit(args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  const { program = 'git', folder, input, isLocal = false, signal } = options
  const ending = new AbortController()
  const stop = (error: RegistryError) => ending.abort(error)
  const slow = new RegistryError('upstream_timeout', 'git took too long and was stopped.')
  const timer = setTimeout(() => stop(slow), options.timeoutMs ?? timeoutMsDefault)
  const watch = setInterval(() => void watchFolder(options, stop), lookMs)
  const end = () => ending.abort(signal?.reason)
  signal?.addEventListener('abort', end, { once: true })
  if (signal?.aborted) end()
  try {
    return await run()
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : error
  } finally {
    clearTimeout(timer)
    clearInterval(watch)
    signal?.removeEventListener('abort', end)
  }

  function run(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const child = spawn(program, [...toGitSettings(isLocal), ...args], {
        ...(folder !== undefined && { cwd: folder }),
        env: toEnvironment(isLocal),
        stdio: ['pipe', 'pipe', 'pipe'],
        // Git runs in a separate process group without a terminal, so that programs that it starts, such as ssh, cannot
        // prompt, and are killed with it.
        detached: hasGroups,
      })
      const kill = () => {
        killAll(child)
        reject(ending.signal.reason)
      }
      ending.signal.addEventListener('abort', kill, { once: true })
      if (ending.signal.aborted) kill()
      const output = new Gathered(options.outputBytesMax ?? outputBytesMaxDefault, () => {
        stop(new RegistryError('upstream_failed', 'The output of git exceeds the maximum size.'))
      })
      const errors = new Gathered(errorBytesMax)
      child.stdout.on('data', (chunk: Buffer) => output.add(chunk))
      child.stderr.on('data', (chunk: Buffer) => errors.add(chunk))
      child.stdin.on('error', () => undefined)
      child.stdin.end(input ?? '')
      child.on('error', (cause: NodeJS.ErrnoException) => reject(toGitStartError(cause)))
      child.on('close', () => ending.signal.removeEventListener('abort', kill))
      child.on('close', (code) =>
        code === 0 ? resolve(output.bytes()) : reject(toGitError(errors.bytes().toString())),
      )
    })
  }
}

const hasGroups = process.platform !== 'win32'

function killAll(child: ChildProcess): void {
  if (!hasGroups || child.pid === undefined) return void child.kill('SIGKILL')
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The processes have already ended.
  }
}

/** Collects output up to a size limit, then calls `onFull`. Without `onFull`, keeps only the end of the output. */
class Gathered {
  readonly #bytesMax: number
  readonly #onFull: (() => void) | undefined
  #chunks: Buffer[] = []
  #length = 0

  constructor(bytesMax: number, onFull?: () => void) {
    this.#bytesMax = bytesMax
    this.#onFull = onFull
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    if (this.#length <= this.#bytesMax) return
    this.#onFull?.()
    this.#chunks = [Buffer.concat(this.#chunks).subarray(-this.#bytesMax)]
    this.#length = this.#bytesMax
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }
}

/** Settings for one call of git, which take precedence over the operator's git configuration. */
function toGitSettings(isLocal: boolean): string[] {
  const protocols = isLocal ? ['file'] : remoteProtocols
  const settings = [
    'protocol.allow=never',
    ...protocols.map((name) => `protocol.${name}.allow=always`),
    `core.hooksPath=${devNull}`,
    'core.fsmonitor=false',
    'core.symlinks=false',
    'submodule.recurse=false',
    'fetch.recurseSubmodules=false',
    'fetch.fsckObjects=true',
    'transfer.bundleURI=false',
    'http.followRedirects=false',
    // Git itself ends a stalled transfer, even if this process was killed.
    'http.lowSpeedLimit=1000',
    'http.lowSpeedTime=60',
    'gc.auto=0',
    'maintenance.auto=false',
  ]
  return settings.flatMap((setting) => ['-c', setting])
}

/**
 * The environment for git: that of the operator, for proxies and SSH keys, without the variables that git sets for
 * programs that it starts.
 */
function toEnvironment(isLocal: boolean): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^GIT_(?!SSH|SSL|HTTP|PROXY|CONFIG_)/.test(name))
  return {
    ...Object.fromEntries(own),
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    SSH_ASKPASS_REQUIRE: 'never',
    GIT_ALLOW_PROTOCOL: (isLocal ? ['file'] : remoteProtocols).join(':'),
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_SSH_COMMAND: process.env.GIT_SSH_COMMAND ?? 'ssh -oBatchMode=yes',
    LC_ALL: 'C',
  }
}

async function watchFolder(
  { folder, folderBytesMax }: GitOptions,
  stop: (error: RegistryError) => void,
): Promise<void> {
  if (folder === undefined || folderBytesMax === undefined) return
  const bytes = await measureFolder(folder)
  if (bytes <= folderBytesMax) return
  const detail = `The repository is larger than ${folderBytesMax / 1024 / 1024} MiB, and was not fetched.`
  stop(new RegistryError('upstream_failed', detail))
}

/** The total size of the files in a folder. Files that appear or disappear meanwhile do not count. */
async function measureFolder(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

function toGitStartError(cause: NodeJS.ErrnoException): Error {
  if (cause.code !== 'ENOENT') return cause
  const detail = 'The program `git` was not found. Install it to sync from git repositories.'
  return new RegistryError('not_implemented', detail, { cause })
}

/** An error with the last line of git's output that begins with `fatal:`, else with its last line. */
function toGitError(text: string): RegistryError {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const said = (lines.findLast((line) => line.startsWith('fatal:')) ?? lines.at(-1) ?? 'nothing').slice(0, 300)
  const hidden = hidePassword(said)
  return new RegistryError('upstream_failed', `git failed: ${hidden.replace(/^fatal: /, '').replace(/\.?$/, '.')}`)
}

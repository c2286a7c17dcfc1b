import { Readable, Writable } from 'node:stream'
import { WriteStream } from 'node:tty'
import type { ScanIo } from '@skillstead/scanner/command'
import { runCommandLine } from '../../packages/scanner/src/command/command-line.ts'

interface Options {
  readonly input?: string
  readonly env?: Record<string, string>
  /** The outputs that are terminals. Default: none. */
  readonly terminals?: readonly ('stdout' | 'stderr')[]
  readonly signal?: AbortSignal
}

/** A running `skillstead-scan` in this process. */
export interface RunningScan {
  readonly code: Promise<number>
  readonly stdout: () => string
  readonly stderr: () => string
}

/** Starts `skillstead-scan` in this process. */
export function startScan(args: readonly string[], options: Options = {}): RunningScan {
  const [stdout, stderr] = [createSink(), createSink()]
  for (const name of options.terminals ?? [])
    Object.assign({ stdout, stderr }[name], { isTTY: true, getColorDepth: WriteStream.prototype.getColorDepth })
  const io: ScanIo = {
    env: options.env ?? {},
    stdin: Readable.from([Buffer.from(options.input ?? '')], { objectMode: false }),
    stdout,
    stderr,
    interruption: () => options.signal ?? new AbortController().signal,
  }
  return { code: runCommandLine(args, io), stdout: stdout.text, stderr: stderr.text }
}

/** Runs `skillstead-scan` in this process. */
export async function scanCommand(args: readonly string[], options: Options = {}) {
  const running = startScan(args, options)
  const code = await running.code
  return { code, stdout: running.stdout(), stderr: running.stderr() }
}

function createSink() {
  let written = ''
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += String(chunk)
      done()
    },
  })
  return Object.assign(sink, { text: () => written })
}

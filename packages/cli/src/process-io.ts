import { readErrorCode } from '@skillstead/protocol'
import type { Io } from './terminal/io.ts'
import { setEngineFlags } from './engine-flags.ts'

/** The environment and streams of this process; each stream is opened on first use. */
export const processIo: Io = {
  env: process.env,
  get stdin() {
    return process.stdin
  },
  get stdout() {
    return process.stdout
  },
  get stderr() {
    return process.stderr
  },
  limitMemory: setEngineFlags,
  onHangUp(listener) {
    process.on('SIGHUP', listener)
  },
  /** A second interruption ends the process at once. */
  interruption() {
    const controller = new AbortController()
    function interrupt(): void {
      if (controller.signal.aborted) process.exit(130)
      controller.abort()
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt)
    return controller.signal
  },
}

/** The exit code of a program that is ended by SIGPIPE, signal 13, as a shell reports it. */
const closedPipeCode = 128 + 13

/**
 * Ends the process once standard output cannot be written: quietly if its reader closed the pipe, as `head` does, else
 * with an error, so that a script does not take half of a result for the whole.
 */
export function endWithOutput(): void {
  process.stdout.on('error', (error) => {
    if (readErrorCode(error) === 'EPIPE') process.exit(closedPipeCode)
    console.error(`Standard output cannot be written: ${error.message}.`)
    process.exit(1)
  })
}

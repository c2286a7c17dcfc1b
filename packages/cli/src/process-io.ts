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

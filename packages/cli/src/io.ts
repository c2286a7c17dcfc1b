import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'

/** The environment variables of a command. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A stream that is perhaps a terminal. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean
  readonly fd?: number
  columns?: number
  getColorDepth?(env?: object): number
}

/** What a command line reads from and writes to: the process's own streams, or others in the place of them. */
export interface Io {
  readonly env: Environment
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Keeps the memory of the process small, for commands that run long. */
  limitMemory?(): void
  /** Aborted by the first interruption from the call on. Without a call an interruption ends the process. */
  interruption(): AbortSignal
}

/** Waits for an interruption. */
export async function untilInterrupted({ interruption }: Io): Promise<void> {
  const signal = interruption()
  if (!signal.aborted) await once(signal, 'abort')
}

/** Where logs go: undefined for the process's own standard output, which the logger writes to faster by itself. */
export function toLogStream({ stdout }: Io): OutputStream | undefined {
  return stdout.fd === undefined ? stdout : undefined
}

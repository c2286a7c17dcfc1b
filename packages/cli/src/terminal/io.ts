import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'

/** The environment variables of a command. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The value of an environment variable without surrounding white space, which files, editors and stores of secrets may
 * add; undefined if it is empty, or if Kubernetes set it for a Service.
 */
export function readVariable(env: Environment, name: string): string | undefined {
  return isServiceLink(env, name) ? undefined : env[name]?.trim() || undefined
}

/**
 * Whether Kubernetes set a variable for a Service: `SKILLSTEAD_PORT=tcp://10.0.0.1:80` for one with the name
 * `skillstead`, in all pods of its namespace. Such a value is no setting.
 */
export function isServiceLink(env: Environment, name: string): boolean {
  return name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(env[name]?.trim() ?? '')
}

/** An output stream, which may be a terminal. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean
  readonly fd?: number
  columns?: number
  getColorDepth?(env?: object): number
}

/** The streams and environment of a command: those of the process, or replacements in tests. */
export interface Io {
  readonly env: Environment
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Limits the memory of the process, and what is compiled in it, for long-running commands. */
  limitMemory?(): void
  /** Calls back on each SIGHUP, which then no longer ends the process. */
  onHangUp?(listener: () => void): void
  /** Returns a signal that the next interruption aborts. Without a call an interruption ends the process. */
  interruption(): AbortSignal
}

/** Waits for an interruption. */
export async function untilInterrupted({ interruption }: Io): Promise<void> {
  const signal = interruption()
  if (!signal.aborted) await once(signal, 'abort')
}

/** The stream for logs; undefined for the process's own standard output, which the logger writes to faster itself. */
export function toLogStream({ stdout }: Io): OutputStream | undefined {
  return stdout.fd === undefined ? stdout : undefined
}

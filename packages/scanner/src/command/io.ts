import type { Readable, Writable } from 'node:stream'

/** The streams and environment of a scan: those of the process, or replacements in tests. */
export interface ScanIo {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable
  readonly stdout: TerminalStream
  readonly stderr: TerminalStream
  /** Returns a signal that the next interruption aborts. */
  interruption(): AbortSignal
}

type TerminalStream = Writable & { readonly isTTY?: boolean; getColorDepth?(env?: object): number }

import { Console } from 'node:console'
import type { Io, OutputStream } from './io.ts'
import { createRender, type Line } from './style.ts'

/** Where a command writes: people read on standard error what it is doing, programs get its result on standard output. */
export interface Output {
  readonly json: boolean
  /** For progress bars, which are shown on a terminal alone. */
  readonly stderr: OutputStream
  /** A line for people while the command runs; silent with --json. */
  say(line: Line): void
  /** A line on standard output, as it is. */
  print(line: string): void
  /** A line of a result for people on standard output. */
  show(line: Line): void
  /** A line on standard error, as it is, also with --json. */
  warn(line: string): void
}

export function createOutput({ stdout, stderr, env }: Io, json: boolean): Output {
  // A console takes no notice of a reader that is gone, as with `| head`.
  const lines = new Console({ stdout, stderr })
  const onStdout = createRender(stdout, env, toPlainText)
  const onStderr = createRender(stderr, env, toPlainText)
  return {
    json,
    stderr,
    say: (line) => void (json || lines.error(onStderr(line))),
    print: (line) => lines.log(line),
    show: (line) => lines.log(onStdout(line)),
    warn: (line) => lines.error(line),
  }
}

/** Where errors of background work go, with their stacks. */
export function createErrorLog({ stderr }: Io): (error: unknown) => void {
  const lines = new Console(stderr)
  return (error) => lines.error(error)
}

/** A result as one line of JSON that a terminal does not obey either: what JSON leaves as it is, is escaped. */
export function toJsonLine(result: unknown): string {
  return JSON.stringify(result).replaceAll(
    /[\x7F-\x9F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** What strangers wrote, for a terminal: one line, and no control characters that could fake others. */
export function toOneLine(written: string): string {
  return written.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
}

/** What strangers wrote, for a terminal, in its own lines: nothing in it moves the cursor or turns the text around. */
export function toPlainText(written: string): string {
  return written.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu, '')
}

import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { inspect } from 'node:util'
import { escapeJson, toJsonLine, toLogText, toOneLine, toPlainText } from '@skillstead/protocol'
import type { Io, OutputStream } from './io.ts'
import { createRender, type Line } from './style.ts'

/**
 * The output of a command: progress messages go to standard error, results to standard output. Texts come from other
 * servers: every line loses what controls a terminal, except for its style.
 */
export interface Output {
  readonly json: boolean
  /** The stream for progress bars, which are shown only on a terminal. */
  readonly stderr: OutputStream
  /** Prints a progress message; silent with --json. */
  say(line: Line): void
  /** Prints a line of a result to standard output. */
  show(line: Line): void
  /** Prints a line of content that programs read, to standard output: unchanged unless that is a terminal. */
  copy(line: string): void
  /** Prints a value as a line of JSON to standard output. */
  showJson(value: unknown): void
  /** Prints a line to standard error, also with --json. */
  warn(line: string): void
}

export function createOutput({ stdout, stderr, env }: Io, json: boolean): Output {
  // Console ignores a closed reader, as with `| head`.
  const lines = new Console({ stdout, stderr })
  const onStdout = createRender(stdout, env, toPlainText)
  const onStderr = createRender(stderr, env, toPlainText)
  return {
    json,
    stderr,
    say: (line) => void (json || lines.error(onStderr(line))),
    show: (line) => lines.log(onStdout(line)),
    copy: (line) => lines.log(stdout.isTTY ? onStdout(line) : line),
    showJson: (value) => lines.log(toJsonLine(value)),
    warn: (line) => lines.error(toPlainText(line)),
  }
}

/** An error log for background work, with stack traces. */
export function createErrorLog({ stderr }: Pick<Io, 'stderr'>): (error: unknown) => void {
  const lines = new Console(stderr)
  return (error) => lines.error(toLogText(inspect(error)))
}

/** A stream into `output` for JSON that a library writes: escapes control and invisible characters in its strings. */
export function toJsonStream(output: Writable): Writable {
  const decoder = new StringDecoder()
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => void output.write(escapeJson(decoder.write(chunk)), done),
    final: (done) => void output.write(escapeJson(decoder.end()), done),
  })
  output.on('error', (error) => stream.destroy(error))
  return stream
}

/** Facts as lines with aligned labels, without empty values. Values are untrusted text. */
export function toFactLines(facts: readonly (readonly [label: string, value: string])[], width = 11): string[] {
  return facts.flatMap(([label, value]) => (value === '' ? [] : [`  ${label.padEnd(width)} ${toOneLine(value)}`]))
}

/** A number with separators and an optional noun: "1 skill", "2,000 skills". */
export function toCount(count: number, noun?: string): string {
  const number = count.toLocaleString('en-US')
  return noun === undefined ? number : `${number} ${noun}${count === 1 ? '' : 's'}`
}

/** A size with its unit. */
export function toSize(bytes: number): string {
  if (bytes < 1e3) return `${bytes} bytes`
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

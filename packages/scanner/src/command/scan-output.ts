import { Console } from 'node:console'
import type { Readable, Writable } from 'node:stream'
import { styleText } from 'node:util'
import { escapeJson, toJsonLine, toOneLine, toPlainText } from '@skillstead/protocol'
import type { Line } from '../report/report-lines.ts'

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

const formats = { good: 'green', warning: 'yellow', bad: 'red', faint: 'dim' } as const

const progressMs = 100

export type ScanOutput = ReturnType<typeof createScanOutput>

/**
 * The output of a scan: results go to standard output; notes, errors and progress to standard error. Skills and added
 * rules are untrusted, so each line is printed without characters that control a terminal.
 */
export function createScanOutput({ stdout, stderr, env }: ScanIo, json: boolean) {
  // `Console` ignores errors of an output that its reader closed, as with `| head`.
  const lines = new Console({ stdout, stderr })
  const isColoured = stdout.isTTY === true && (stdout.getColorDepth?.(env) ?? 1) > 1
  const hasProgress = stderr.isTTY === true && stdout.isTTY !== true
  let shownMs = -Infinity
  function reportLine(id: string, text: string, record: object): void {
    if (shownMs > 0) stderr.write('\r\u001B[K')
    shownMs = -Infinity
    lines.error(json ? toJsonLine({ id, ...record }) : `${toOneLine(id)}: ${toOneLine(text)}`)
  }
  return {
    print(line: Line): void {
      if (typeof line === 'string') return lines.log(toPlainText(line))
      const text = toPlainText(line.text)
      lines.log(isColoured ? styleText(formats[line.style], text, { validateStream: false }) : text)
    },
    /** Prints a part of a JSON document. */
    printJson: (part: string): void => lines.log(escapeJson(part)),
    /** Reports a remark on a skill or a path, which is no finding. */
    note: (id: string, note: string): void => reportLine(id, note, { note }),
    /** Reports that a skill or path was not scanned, and why. */
    fail(id: string, reason: string): void {
      reportLine(id, reason, { error: { code: 'unreadable', detail: reason } })
    },
    /** Shows the number of scanned skills on a terminal, if standard output is redirected. */
    progress(scanned: number): void {
      if (!hasProgress || performance.now() - shownMs < progressMs) return
      shownMs = performance.now()
      stderr.write(`\r${scanned} scanned`)
    },
  }
}

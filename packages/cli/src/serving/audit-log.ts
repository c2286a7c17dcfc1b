import type { Registry } from '@skillstead/core'
import { type AuditPosition, auditStart, partsOf, readAuditAfter, resumeAudit } from '@skillstead/core/internal'
import { toOneLine, toErrorText } from '@skillstead/protocol'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import * as v from 'valibot'
import { textOption, UsageError, type Arguments } from '../command/command.ts'
import { writeWhole } from '../files/write-whole.ts'

const pollMs = 1000
const batchEntries = 500

/** A running audit log of a node. */
export interface AuditLog {
  /** Writes the remaining entries. Call it before the registry is closed. */
  close(): Promise<void>
}

interface Target {
  /** Where in the audit log of the registry to begin. */
  readonly last: AuditPosition | 'end'
  append(lines: string): Promise<void>
  remember(position: AuditPosition): void
}

/**
 * Appends each committed audit entry of the registry, whichever node or command made it, as one line of JSON to the
 * file of `--audit-log`. A crash repeats the entries of at most one batch; an error is reported once, and the entries
 * are written when writing works again. Throws {@link UsageError} for a path that is no file.
 */
export async function followAudit(
  registry: Registry,
  given: Arguments,
  warn: (line: string) => void,
): Promise<AuditLog | undefined> {
  const name = textOption(given, 'audit-log')
  if (name === undefined) return undefined
  const context = partsOf(registry)
  const target = name === '-' ? toStandardOutput(given) : toFile(name)
  let position = await resumeAudit(context, target.last)
  let hasFailed = false
  async function writeNew(): Promise<void> {
    try {
      for (;;) {
        const found = await readAuditAfter(context, position, batchEntries)
        if (found.length > 0) {
          await target.append(found.map(({ entry }) => `${JSON.stringify(entry)}\n`).join(''))
          position = found.at(-1)!.position
          target.remember(position)
        }
        if (found.length < batchEntries) break
      }
      hasFailed = false
    } catch (error) {
      if (!hasFailed) warn(`The audit log is not written, and will be tried again: ${toOneLine(toErrorText(error))}`)
      hasFailed = true
    }
  }
  let running: Promise<void> | undefined
  const poll = () => (running ??= writeNew().finally(() => (running = undefined)))
  void poll()
  const timer = setInterval(poll, pollMs)
  timer.unref()
  return {
    async close() {
      clearInterval(timer)
      await running
      await writeNew()
    },
  }
}

/** Writes entries to standard output, which has no stored position: only entries that are made after the start. */
function toStandardOutput({ io }: Arguments): Target {
  return {
    last: 'end',
    append: (lines) =>
      new Promise((resolve, reject) => {
        io.stdout.write(lines, (error) => (error ? reject(error) : resolve()))
      }),
    remember() {},
  }
}

const Position = v.object({ seq: v.number(), id: v.string() })

/** Appends to a file, opened for each batch so that it may be renamed. A second file has the position in the log. */
function toFile(path: string): Target {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new UsageError(`${toOneLine(path)} is not a file. Pass a file to --audit-log, or - for standard output.`)
  const positionPath = `${path}.position`
  return {
    last: existsSync(positionPath) ? readPosition(positionPath) : auditStart,
    async append(lines) {
      const file = await open(path, 'a+', 0o600)
      try {
        const { size } = await file.stat()
        try {
          await file.appendFile((await endsInLine(file, size)) ? `\n${lines}` : lines)
          await file.sync()
        } catch (error) {
          // A full disk may have stored a part of the lines: the next attempt writes all of them.
          await file.truncate(size)
          throw error
        }
      } finally {
        await file.close()
      }
    },
    remember: (position) => writeWhole(positionPath, JSON.stringify(position), 0o600),
  }
}

/** Whether a crash cut the last line of a file. */
async function endsInLine(file: Awaited<ReturnType<typeof open>>, size: number): Promise<boolean> {
  if (size === 0) return false
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer.toString() !== '\n'
}

function readPosition(path: string): AuditPosition {
  try {
    return v.parse(Position, JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    throw new UsageError(`${toOneLine(path)} is damaged. Delete it to write all entries again.`)
  }
}

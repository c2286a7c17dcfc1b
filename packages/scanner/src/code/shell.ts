import type { CodeReading } from './reading.ts'
import { ShellRun } from './shell-run.ts'

/** Reads a program in another language that a script contains. */
export type ReadOther = (language: 'python' | 'script', text: string) => CodeReading

/**
 * Reads what a shell script does: its facts, the flows between them, and the texts that it computes. Follows variables,
 * pipes, files that the script writes, functions and code in strings. Takes linear time and never throws.
 */
export function readShell(text: string, readOther?: ReadOther): CodeReading {
  const run = new ShellRun(toScript(text), readOther)
  try {
    run.runAll()
  } catch {
    run.record.cut ??= 'The code could not be read to its end.'
  }
  return run.record
}

/** In a record of a session, some lines have a prompt: they are input, and the others are output. Offsets stay the same. */
function toScript(text: string): string {
  if (!/^[ \t]{0,8}[$%] \S/m.test(text)) return text
  let continues = false
  return text.replace(/[^\n]+/g, (line) => {
    const isTyped = continues || /^[ \t]{0,8}[$%] /.test(line)
    if (isTyped && !continues) line = line.replace(/[$%]/, ' ')
    continues = isTyped && line.trimEnd().endsWith('\\')
    return isTyped ? line : line.replace(/[^\r]/g, ' ')
  })
}

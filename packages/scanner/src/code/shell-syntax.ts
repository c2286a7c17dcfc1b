import type * as unbash from 'unbash'
import { requireShellParser } from './parse.ts'

export type { AssignmentPrefix, Command, Redirection, Script, SyntaxNode, Word, WordPart } from 'unbash'

/** Longer scripts are read up to this length. */
const charactersMax = 256 * 1024
/** The parser takes quadratic time for here-documents that begin on one line. */
const heredocsPerLineMax = 64

interface ParsedShell {
  readonly script: unbash.Script
  /** Why parsing ended early, as a sentence. */
  readonly cut?: string
}

/** Parses a shell script, also if it is damaged. The time is linear in its length. */
export function parseScript(text: string): ParsedShell {
  const length = findEnd(text)
  const script = requireShellParser().parse(text.slice(0, length))
  return length < text.length ? { script, cut: `Code after its first ${length} characters was not read.` } : { script }
}

function findEnd(text: string): number {
  const length = Math.min(text.length, charactersMax)
  let lineStart = -1
  let count = 0
  for (let at = text.indexOf('<<'); at !== -1 && at < length; at = text.indexOf('<<', at + 2)) {
    const start = text.lastIndexOf('\n', at)
    count = start === lineStart ? count + 1 : 0
    lineStart = start
    if (count > heredocsPerLineMax) return at
  }
  return length
}

/** The file of `$(<file)`. */
export function toReadFile(script: unbash.Script): unbash.Word | undefined {
  const command = script.commands[0]?.command
  if (command?.type !== 'Command' || command.name || command.redirects.length !== 1) return undefined
  const [redirect] = command.redirects
  return redirect?.type === 'Redirect' && redirect.operator === '<' ? redirect.target : undefined
}

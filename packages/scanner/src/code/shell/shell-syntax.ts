import { createRequire } from 'node:module'
import type * as unbash from 'unbash'

export type { Assignment, Command, Redirection, Script, SyntaxNode, Word, WordPart } from 'unbash'

// The parser is loaded on first use, because loading it takes longer than scanning a SKILL.md. Bundled programs contain
// it.
const require = createRequire(import.meta.url)
let parser: typeof unbash | undefined
const loadParser = (): typeof unbash => (parser ??= require('unbash'))

/** Maximum number of characters of a script to parse. The code after them is not read. */
const charactersMax = 256 * 1024
/** Maximum here-documents on one line, and substitutions in each other: the parser takes quadratic time for both. */
const heredocsPerLineMax = 64
const substitutionsDeepMax = 64

/** Parses a shell script, also if it is damaged. The time is linear in its length. `cut`: why parsing ended early. */
export function parseScript(text: string) {
  const length = findReadableEnd(text)
  const script = loadParser().parse(text.slice(0, length))
  return length < text.length ? { script, cut: `Code after its first ${length} characters was not read.` } : { script }
}

function findReadableEnd(text: string): number {
  const length = Math.min(text.length, charactersMax, findDeep(text))
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

/** The offset at which too many substitutions are open, or the length of the text. */
function findDeep(text: string): number {
  let depth = 0
  for (const { 0: mark, index } of text.matchAll(/[$<>]\(|\$\{|[)}]/g)) {
    if (mark.length === 1) depth = Math.max(0, depth - 1)
    else if (++depth > substitutionsDeepMax) return index
  }
  return text.length
}

/** Calls a function for each direct child of a node. */
export function forEachChild(node: unbash.SyntaxNode, visit: (child: unbash.SyntaxNode) => void): void {
  loadParser().forEachChild(node, visit)
}

/** Removes the output from a recorded session, in which lines with a prompt are input. Offsets stay the same. */
export function toTyped(text: string): string {
  if (!/^[ \t]{0,8}[$%] \S/m.test(text)) return text
  let continues = false
  return text.replace(/[^\n]+/g, (line) => {
    const isTyped = continues || /^[ \t]{0,8}[$%] /.test(line)
    if (isTyped && !continues) line = line.replace(/[$%]/, ' ')
    continues = isTyped && line.trimEnd().endsWith('\\')
    return isTyped ? line : line.replace(/[^\r]/g, ' ')
  })
}

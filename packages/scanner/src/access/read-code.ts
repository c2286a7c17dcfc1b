import type { AccessLists } from './access-lists.ts'
import { readVariables } from './environment.ts'
import { readAddresses } from './hosts.ts'
import { readInlineMetadata } from './manifests.ts'
import { readPlaces } from './places.ts'
import { readShell, readWords, toProgram, type Scope } from './read-shell.ts'
import { regexWith } from '../text/regex.ts'

/** Groups of programming languages with the same comments and calls. Shell scripts are read separately. */
export type Language = 'python' | 'script' | 'other'

/** Finds what a program uses. */
export function readCode(code: string, language: Language, lists: AccessLists, scope: Scope, ownFolder: string): void {
  if (language === 'python') readInlineMetadata(code, lists)
  const text = language === 'other' ? code : dropComments(code, language)
  readAddresses(text, lists)
  readVariables(text, lists)
  readPlaces(text, lists, ownFolder)
  readCalls(text, lists, scope)
}

/** Blanks comment lines and docstrings: text in them is not executed. */
function dropComments(code: string, language: 'python' | 'script'): string {
  const isPython = language === 'python'
  if (!(isPython ? /#|"""|'''/ : /\/\/|\/\*/).test(code)) return code
  const kept: string[] = []
  let before = ':'
  let within: string | undefined
  for (const line of code.split('\n')) {
    const trimmed = line.trim()
    if (within !== undefined) {
      if (trimmed.includes(within)) within = undefined
      continue
    }
    const quote = isPython ? /^[rRuU]?("""|''')/.exec(trimmed)?.[1] : trimmed.startsWith('/*') ? '*/' : undefined
    // Only at the position of a docstring: elsewhere the string is a value that the program may use.
    if (quote !== undefined && (!isPython || before.endsWith(':') || kept.length === 0)) {
      if (!trimmed.slice(isPython ? trimmed.indexOf(quote) + 3 : 2).includes(quote)) within = quote
      continue
    }
    if (trimmed === '' || trimmed.startsWith(isPython ? '#' : '//')) continue
    before = trimmed
    kept.push(line)
  }
  return kept.join('\n')
}

/** Calls that run a program; `list` if its words are separate arguments. */
const calls: readonly { readonly hint: string; readonly match: RegExp }[] = [
  {
    hint: 'subprocess',
    match: regexWith('g')`\bsubprocess\.(run|call|check_call|check_output|Popen|getoutput|getstatusoutput)\(\s{0,20}
        (?<list>\[\s{0,20})?[rbf]{0,2}(?<quote>["'])`,
  },
  { hint: 'create_subprocess', match: /\bcreate_subprocess_(?:exec|shell)\(\s{0,20}(\[\s{0,20})?[rbf]{0,2}(["'])/g },
  { hint: 'os.', match: /\bos\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?)\(\s{0,20}(\[\s{0,20})?[rbf]{0,2}(["'])/g },
  {
    hint: 'exec',
    match: regexWith(
      'g',
    )`((?<![\w.])|\b(child_process|cp|childProcess)\.)exec(Sync|File|FileSync|Async|a|aSync|aCommand)?
        \(\s{0,20}(?<list>\[\s{0,20})?(?<quote>["'\x60])`,
  },
  { hint: 'spawn', match: /\bspawn(?:Sync)?\(\s{0,20}(\[\s{0,20})?(["'`])/g },
  { hint: 'Deno.Command', match: /\bDeno\.Command\(\s{0,20}(\[)?(["'`])/g },
  { hint: 'exec.Command', match: /\bexec\.Command(?:Context)?\((?:ctx, ?)?(\[)?(["'`])/g },
  { hint: 'Command::new', match: /\bCommand::new\((\[)?(")/g },
  { hint: 'system', match: /(?<![\w.])system\(?\s{0,3}(\[)?(["'])/g },
  { hint: 'which', match: /\b(?:shutil\.)?which\((\[)?(["'])/g },
  { hint: '$`', match: /(?<![\w$])\$(\[)?(`)/g },
]
/** Lists of words that are run later. */
const wordLists = /\b(?:cmd|command|args|argv)\w{0,20}(?:: ?[\w[\], .|]{1,40})? ?= ?(\[)\s{0,20}[rbf]{0,2}(["'])/g
const runsLists = /subprocess|spawn|execFile|Popen|exec\.Command/
/** A part of every hint: a fast check that skips the many texts that run nothing. */
const callHint = /process|exec|spawn|[Pp]open|Command|system|which|\$`/

/** Each call examines the text ahead of it, so their number is limited. */
const callsMax = 1000
const commandCharactersMax = 1000

function readCalls(text: string, lists: AccessLists, scope: Scope): void {
  if (!callHint.test(text)) return
  const ways = calls.filter(({ hint }) => text.includes(hint)).map(({ match }) => match)
  if (runsLists.test(text)) ways.push(wordLists)
  let left = callsMax
  for (const way of ways) {
    for (const found of text.matchAll(way)) {
      if (left-- === 0) return lists.addCut(`programs run after the first ${callsMax} of a file were not read`, text)
      readCall(text, found, lists, scope)
    }
  }
}

function readCall(text: string, found: RegExpExecArray, lists: AccessLists, scope: Scope): void {
  const { 0: call, 1: list, 2: quote, index } = found
  const begin = index + call.length
  const end = findEnd(text, quote!, begin)
  const command = text.slice(begin, end)
  const after = text.slice(end + 1, end + commandCharactersMax)
  if (list !== undefined) {
    readWords([command, ...readItems(after, ']')], lists, scope, 1)
  } else if (/\s/.test(command)) readShell(unfill(command), lists, scope, 1)
  else {
    // `execFile('git', ['push'])`, `which('git')`
    const open = /^\s{0,20},\s{0,20}\[/.exec(after)?.[0]
    const more =
      open === undefined ? readItems(after.replace(/^\s{0,20},/, ''), ')') : readItems(after.slice(open.length), ']')
    if (toProgram(command) !== undefined) readWords([command, ...more], lists, scope, 1)
  }
}

function findEnd(text: string, quote: string, begin: number): number {
  const window = text.slice(begin, begin + commandCharactersMax)
  for (let at = window.indexOf(quote); at !== -1; at = window.indexOf(quote, at + 1))
    if (window[at - 1] !== '\\') return begin + at
  return begin + window.length
}

/** The strings of a list, up to its end. */
function readItems(text: string, end: ']' | ')'): string[] {
  const items: string[] = []
  for (const [item] of text.matchAll(/"[^"\n]{0,200}"|'[^'\n]{0,200}'|`[^`\n]{0,200}`|[\])]/g)) {
    if (item === end) break
    if (item.length > 1) items.push(item.slice(1, -1))
    if (items.length === 20) break
  }
  return items
}

/** Replaces template placeholders, whose value is only known at run time. */
function unfill(command: string): string {
  return command.replace(/\$?\{[^{}\n]{0,80}\}/g, 'x')
}

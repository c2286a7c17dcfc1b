import { regexWith } from '../text/regex.ts'
import type { AccessLists } from './access-lists.ts'
import { readInlineMetadata } from './manifests.ts'
import { readShellAccess, readCommandWords, toProgramName } from './read-shell.ts'
import { readAddresses, readReferencedPlaces, readVariables } from './references.ts'

/** Finds what a program uses. Languages are grouped by their comments and calls; shell scripts are read separately. */
export function readCodeAccess(code: string, language: 'python' | 'script' | 'other', lists: AccessLists): void {
  if (language === 'python') readInlineMetadata(code, lists)
  const text = language === 'other' ? code : dropCodeComments(code, language)
  readAddresses(text, lists)
  readVariables(text, lists)
  readReferencedPlaces(text, lists)
  readCalls(text, lists)
}

/** Drops comment lines and docstrings: text in them is not executed. */
function dropCodeComments(code: string, language: 'python' | 'script'): string {
  const isPython = language === 'python'
  if (!(isPython ? /#|"""|'''/ : /\/\/|\/\*/).test(code)) return code
  const kept: string[] = []
  let within: string | undefined
  for (const line of code.split('\n')) {
    const trimmed = line.trim()
    if (within !== undefined) {
      if (trimmed.includes(within)) within = undefined
      continue
    }
    const quote = isPython ? /^[rRuU]?("""|''')/.exec(trimmed)?.[1] : trimmed.startsWith('/*') ? '*/' : undefined
    // Only at the position of a docstring: elsewhere the string is a value that the program may use.
    if (quote !== undefined && (!isPython || (kept.at(-1)?.trimEnd().endsWith(':') ?? true))) {
      if (!trimmed.slice(isPython ? trimmed.indexOf(quote) + 3 : 2).includes(quote)) within = quote
    } else if (trimmed !== '' && !trimmed.startsWith(isPython ? '#' : '//')) kept.push(line)
  }
  return kept.join('\n')
}

/** A call that runs a program; the group `list` matches if the words of the command are a list. */
const call = regexWith('g')`(\bsubprocess\.(run|call|check_call|check_output|Popen|getoutput|getstatusoutput)\(|
  \bcreate_subprocess_(exec|shell)\(|\bos\.(system|popen|exec[lv]p?e?|spawn[lv]p?e?)\(|
  ((?<![\w.])|\b(child_process|cp|childProcess)\.)exec(Sync|File|FileSync|Async|a|aSync|aCommand)?\(|\bspawn(Sync)?\(|
  \bDeno\.Command\(|\bexec\.Command(Context)?\((ctx, ?)?|\bCommand::new\(|(?<![\w.])system\(?|\b(shutil\.)?which\(|
  (?<![\w$])\$(?=\x60))\s{0,20}(?<list>\[\s{0,20})?[rbf]{0,2}(?<quote>["'\x60])`
/** Lists of words in a variable, which the code may run as a command later. */
const wordLists = /\b(?:cmd|command|args|argv)\w{0,20}(?:: ?[\w[\], .|]{1,40})? ?= ?(\[)\s{0,20}[rbf]{0,2}(["'])/g
const runsLists = /subprocess|spawn|execFile|Popen|exec\.Command/
/** Matches a part of every call: a text without a match runs no program, and is skipped. */
const callHint = /process|exec|spawn|[Pp]open|Command|system|which|\$`/

/** Maximum number of calls to examine in a text, because the text after each call is examined, too. */
const callsMax = 1000
const commandCharactersMax = 1000

function readCalls(text: string, lists: AccessLists): void {
  if (!callHint.test(text)) return
  let left = callsMax
  for (const way of runsLists.test(text) ? [call, wordLists] : [call]) {
    for (const found of text.matchAll(way)) {
      if (left-- === 0) return lists.addCut(`programs run after the first ${callsMax} of a file were not read`, text)
      readCall(text, found, lists)
    }
  }
}

function readCall(text: string, { 0: start, 1: list, 2: quote, index }: RegExpExecArray, lists: AccessLists): void {
  const begin = index + start.length
  const window = text.slice(begin, begin + commandCharactersMax)
  let end = window.indexOf(quote!)
  while (end !== -1 && window[end - 1] === '\\') end = window.indexOf(quote!, end + 1)
  const command = end === -1 ? window : window.slice(0, end)
  const after = text.slice(begin + command.length + 1, begin + command.length + commandCharactersMax)
  if (list !== undefined) readCommandWords([command, ...readListItems(after, ']')], lists, 1)
  // The value of a placeholder is only known at run time.
  else if (/\s/.test(command)) readShellAccess(command.replace(/\$?\{[^{}\n]{0,80}\}/g, 'x'), lists, 1)
  else if (toProgramName(command) !== undefined) {
    // `execFile('git', ['push'])`, `which('git')`
    const open = /^\s{0,20},\s{0,20}\[/.exec(after)?.[0]
    const items = open === undefined ? readListItems(after, ')') : readListItems(after.slice(open.length), ']')
    readCommandWords([command, ...items], lists, 1)
  }
}

/** The first strings of a list, up to the end of the list and at most 20. */
function readListItems(text: string, end: ']' | ')'): string[] {
  const items: string[] = []
  for (const [item] of text.matchAll(/"[^"\n]{0,200}"|'[^'\n]{0,200}'|`[^`\n]{0,200}`|[\])]/g)) {
    if (item === end || items.length === 20) break
    if (item.length > 1) items.push(item.slice(1, -1))
  }
  return items
}

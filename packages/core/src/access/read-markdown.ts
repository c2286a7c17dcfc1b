import type { AccessLists } from './access-lists.ts'
import { addVariable } from './environment.ts'
import { readAddresses } from './hosts.ts'
import { readMcpTools, readPlaces } from './places.ts'
import { isProhibited, keepAllowed } from './prohibitions.ts'
import { readBlock } from './read-block.ts'
import { isCommandLine, readShell, type Scope } from './read-shell.ts'
import { agentTools } from './words.ts'

const fencePattern = /^[ \t]{0,12}(?:[-*>] {0,3}|\d{1,3}\. )?(`{3,}|~{3,})[ \t]*([\w+#.-]{0,30})/

interface Fence {
  readonly mark: string
  readonly language: string
  readonly begin: number
  /** Shown as what not to do. */
  readonly isForbidden: boolean
}

/** What instructions use: their blocks of code by language, their sentences by what stands in them as code. */
export function readMarkdown(text: string, lists: AccessLists, scope: Scope, ownFolder: string): void {
  let fence: Fence | undefined
  let before = ''
  let isBadSection = false
  for (let begin = 0; begin < text.length;) {
    const next = text.indexOf('\n', begin)
    const end = next === -1 ? text.length : next
    const line = text.slice(begin, end)
    const mark = line.includes('```') || line.includes('~~~') ? fencePattern.exec(line) : null
    if (fence) {
      if (mark && mark[2] === '' && mark[1]!.startsWith(fence.mark)) {
        if (!fence.isForbidden) readBlock(text.slice(fence.begin, begin), fence.language, lists, scope, ownFolder)
        fence = undefined
        before = ''
      }
    } else if (mark) {
      const isForbidden = isBadSection || isProhibited(before)
      fence = { mark: mark[1]!, language: mark[2]!.toLowerCase(), begin: end + 1, isForbidden }
    } else if (line.startsWith('#')) {
      isBadSection = badHeading.test(line)
      before = line
    } else if (line !== '' && line !== '\r') {
      if (!isBadSection) readProse(line, lists, scope, ownFolder)
      before = line
    }
    begin = end + 1
  }
  // Nothing closes it, so the rest is in it.
  if (fence && !fence.isForbidden) readBlock(text.slice(fence.begin), fence.language, lists, scope, ownFolder)
}

const badHeading =
  /^#{1,6} {0,3}(?:❌|🚫|⛔|anti-?patterns?\b|don['’]?ts?\b|do not\b|never\b|what not to|bad\b|wrong\b|forbidden|prohibited)/i

/** Only what could be told from words: most lines are words alone. */
const told = /[`~$/]|\.(?:md|env)\b|mcp__|[a-z] tool\b/

function readProse(given: string, lists: AccessLists, scope: Scope, ownFolder: string): void {
  if (!told.test(given)) return
  const line = keepAllowed(given)
  if (line === '') return
  readPlaces(line.includes('](') ? line.replace(linkTarget, '](') : line, lists, ownFolder)
  readMcpTools(line, lists)
  if (line.includes(' tool')) for (const { 1: tool } of line.matchAll(toolNamed)) addTool(tool!, lists)
  if (line.includes('`')) for (const { 1: code } of line.matchAll(inlineCode)) readInline(code!, lists, scope)
  if (line.includes('://') && calling.test(line)) readAddresses(line.replace(linkTarget, ']('), lists)
}

const linkTarget = /\]\([^()\s]{0,500}\)?/g
const inlineCode = /`([^`]{2,300})`/g
const toolNamed = /\b([A-Z][A-Za-z]{1,30})`? tool\b/g
/** Words by which a sentence has something called, rather than points to it. */
const calling =
  /\b(?:base ?url|endpoint|api (?:url|base|host)|webhook|curl|wget|fetch(?:es)?|GET|POST|PUT|PATCH|DELETE|requests?|upload|download|send|submit|call|query|connect|clone|host)\b/i

function readInline(code: string, lists: AccessLists, scope: Scope): void {
  const variable = /^\$?\{?([A-Z][A-Z0-9_]{2,63})\}?(?:=|$)/.exec(code)
  if (variable) {
    if (code.startsWith('$') || secretName.test(variable[1]!)) addVariable(lists, variable[1]!)
  } else if (agentTools.has(code)) addTool(code, lists)
  else if (code.includes(' ') && isCommandLine(code)) readShell(code, lists, scope)
  else if (/^(?:GET|POST|PUT|PATCH|DELETE) https?:/.test(code)) readAddresses(code, lists)
}

const secretName =
  /^(?!INVALID|MISSING|EXPIRED|UNKNOWN|NO_|BAD_|ERR).*_(?:KEY|TOKEN|SECRET|PASSWORD|PASS|PAT|CREDENTIALS|DSN|URL|URI|HOST|ENDPOINT)$/

function addTool(name: string, lists: AccessLists): void {
  if (agentTools.has(name)) lists.add('tools', name)
}

import type { AccessLists } from './access-lists.ts'
import { addVariable } from './environment.ts'
import { readAddresses } from './hosts.ts'
import { readMcpTools, readPlaces } from './places.ts'
import { isProhibited, keepAllowed } from './prohibitions.ts'
import { readBlock } from './read-block.ts'
import { isCommandLine, readShell, type Scope } from './read-shell.ts'
import { agentTools } from './access-words.ts'
import { regex, regexWith } from '../text/regex.ts'

const fencePattern = /^[ \t]{0,12}(?:[-*>] {0,3}|\d{1,3}\. )?(`{3,}|~{3,})[ \t]*([\w+#.-]{0,30})/

interface Fence {
  readonly mark: string
  readonly language: string
  readonly begin: number
  /** Shown as an example of what not to do. */
  readonly isForbidden: boolean
}

/** Finds what instructions use: in code blocks by their language, and in sentences by the code in them. */
export function readMarkdown(text: string, lists: AccessLists, scope: Scope, ownFolder: string): void {
  const [findTicks, findTildes] = [createFinder(text, '```'), createFinder(text, '~~~')]
  const findMarks = (from: number) => Math.min(findTicks(from), findTildes(from))
  const findTelling = createFinder(text, telling)
  let fence: Fence | undefined
  /** The last non-empty line. */
  let before = { begin: 0, end: 0 }
  let isBadSection = false
  for (let begin = 0; begin < text.length;) {
    // Only a closing fence ends a block of code, so search for that directly.
    if (fence) begin = text.lastIndexOf('\n', Math.min(findMarks(begin), text.length)) + 1
    const next = text.indexOf('\n', begin)
    const end = next === -1 ? text.length : next
    const mark = findMarks(begin) < end ? fencePattern.exec(text.slice(begin, end)) : null
    if (fence) {
      if (mark && mark[2] === '' && mark[1]!.startsWith(fence.mark)) {
        if (!fence.isForbidden) readBlock(text.slice(fence.begin, begin), fence.language, lists, scope, ownFolder)
        fence = undefined
        before = { begin, end: begin }
      }
    } else if (mark) {
      const isForbidden = isBadSection || isProhibited(text.slice(before.begin, before.end))
      fence = { mark: mark[1]!, language: mark[2]!.toLowerCase(), begin: end + 1, isForbidden }
    } else if (text[begin] === '#') {
      isBadSection = badHeading.test(text.slice(begin, end))
      before = { begin, end }
    } else if (begin !== end && !(text[begin] === '\r' && end === begin + 1)) {
      if (!isBadSection && findTelling(begin) < end) readProse(text.slice(begin, end), lists, scope, ownFolder)
      before = { begin, end }
    }
    begin = end + 1
  }
  // An unclosed fence extends to the end.
  if (fence && !fence.isForbidden) readBlock(text.slice(fence.begin), fence.language, lists, scope, ownFolder)
}

/**
 * Returns a function that finds the next occurrence at or after a position. Positions must ascend: it scans the text
 * once, whereas searching from each line would start again thousands of times.
 */
function createFinder(text: string, what: string | RegExp): (from: number) => number {
  let found = -1
  return (from) => {
    if (found >= from) return found
    if (typeof what === 'string') found = text.indexOf(what, from)
    else {
      what.lastIndex = from
      found = what.exec(text)?.index ?? -1
    }
    if (found === -1) found = Number.POSITIVE_INFINITY
    return found
  }
}

const badHeading = regexWith('i')`^#{1,6} {0,3}(❌|🚫|⛔|anti-?patterns?\b|don['’]?ts?\b
  |do not\b|never\b|what not to|bad\b|wrong\b|forbidden|prohibited)`

/**
 * Matches every line that {@link readProse} can read something from: code that begins like a command, a variable or a
 * tool; paths, hosts, tools. Other lines, which are most, are not even extracted. A new kind of evidence must match
 * here too.
 */
const telling = regexWith('g')`\x60(?=[A-Z$\{]|[a-z][a-z0-9-]{0,30} )|~/|\$\{?HOME|
  /(?=/|home|Users|etc|var|opt|usr|tmp|root|mnt|proc|sys|dev|boot|srv|Library|Applications|System)|
  \.(?=md|env|git|npmrc|pypirc|netrc|mcp|vscode|cursor|claude|husky)|\(\)|(?<=mcp)__|(?<=[a-z] )tool\b`
/** Of those lines, the ones that contain code or a path. */
const evidence = /[`~$/]|\.(?:md|env)\b|mcp__|[a-z] tool\b/

function readProse(given: string, lists: AccessLists, scope: Scope, ownFolder: string): void {
  if (!evidence.test(given)) return
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
/** Words by which a sentence calls something, instead of only referring to it. */
const calling = regexWith('i')`\b(base ?url|endpoint|api (url|base|host)|webhook|
  curl|wget|fetch(es)?|GET|POST|PUT|PATCH|DELETE|requests?|upload|download|send|submit|call|query|connect|clone|
  host)\b`

function readInline(code: string, lists: AccessLists, scope: Scope): void {
  // Programs have lower-case names, and nothing else that is read here does.
  if (/^[a-z]/.test(code)) {
    if (code.includes(' ') && isCommandLine(code)) readShell(code, lists, scope)
    return
  }
  const variable = /^\$?\{?([A-Z][A-Z0-9_]{2,63})\}?(?:=|$)/.exec(code)
  if (variable) {
    if (code.startsWith('$') || secretName.test(variable[1]!)) addVariable(lists, variable[1]!)
  } else if (agentTools.has(code)) addTool(code, lists)
  else if (/^(?:GET|POST|PUT|PATCH|DELETE) https?:/.test(code)) readAddresses(code, lists)
}

const secretName = regex`^(?!INVALID|MISSING|EXPIRED|UNKNOWN|NO_|BAD_|ERR).*_
  (KEY|TOKEN|SECRET|PASSWORD|PASS|PAT|CREDENTIALS|DSN|URL|URI|HOST|ENDPOINT)$`

function addTool(name: string, lists: AccessLists): void {
  if (agentTools.has(name)) lists.add('tools', name)
}

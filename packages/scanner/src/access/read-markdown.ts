import { regex, regexWith } from '../text/regex.ts'
import type { AccessLists } from './access-lists.ts'
import { agentTools } from './access-words.ts'
import { isProhibitedLine, keepAllowed } from './prohibitions.ts'
import { isRequestLine, readBlock, toBlockKind } from './read-block.ts'
import { isCommandLine, readShellAccess } from './read-shell.ts'
import { readAddresses, readMcpTools, readReferencedPlaces } from './references.ts'

const fencePattern = /^[ \t]{0,12}(?:[-*>] {0,3}|\d{1,3}\. )?(`{3,}|~{3,})[ \t]*([\w+#.-]{0,30})/
const badHeading = regexWith('i')`^#{1,6} {0,3}(❌|🚫|⛔|anti-?patterns?\b|don['’]?ts?\b|do not\b|never\b|what not to|
  bad\b|wrong\b|forbidden|prohibited)`
/** Matches every line that may contain code, a path or a tool. Other lines are not read. */
const evidence = regex`\x60(?=[A-Z$\{]|[a-z][a-z0-9-]{0,30} )|~/|\$\{?HOME|
  /(?=/|home|Users|etc|var|opt|usr|tmp|root|mnt|proc|sys|dev|boot|srv|Library|Applications|System)|
  \.(?=md|env|git|npmrc|pypirc|netrc|mcp|vscode|cursor|claude|husky)|\(\)|(?<=mcp)__|(?<=[a-z] )tool\b`

/** Finds what instructions use: in code blocks by their language, and in sentences by the code in them. */
export function readMarkdown(text: string, lists: AccessLists): void {
  /** The open block of code; forbidden if it is shown as an example of what not to do. */
  let fence: { readonly mark: string; readonly language: string; begin: number; isForbidden: boolean } | undefined
  let isBadSection = false
  /** The last line of prose that is not empty. */
  let before = ''
  const close = (end: number) => {
    if (fence && !fence.isForbidden) readBlock(toBlockKind(fence.language), text.slice(fence.begin, end), lists)
    fence = undefined
    before = ''
  }
  for (let begin = 0, end = 0; begin < text.length; begin = end + 1) {
    // In a block of code, skip to the next line with the mark of the block.
    const next = fence ? text.indexOf(fence.mark, begin) : begin
    if (next === -1) break
    if (fence) begin = text.lastIndexOf('\n', next) + 1
    end = text.indexOf('\n', begin)
    if (end === -1) end = text.length
    const line = text.slice(begin, text[end - 1] === '\r' ? end - 1 : end)
    const mark = line.includes('```') || line.includes('~~~') ? fencePattern.exec(line) : null
    if (fence) {
      // A mark with a language is part of a document that the block shows.
      if (mark?.[2] === '' && mark[1]!.startsWith(fence.mark)) close(begin)
    } else if (mark) {
      const isForbidden = isBadSection || isProhibitedLine(before)
      fence = { mark: mark[1]!, language: mark[2]!.toLowerCase(), begin: end + 1, isForbidden }
    } else if (line !== '') {
      if (line.startsWith('#')) isBadSection = badHeading.test(line)
      else if (!isBadSection && evidence.test(line)) readProse(line, lists)
      before = line
    }
  }
  // An unclosed fence extends to the end.
  close(text.length)
}

const linkTarget = /\]\([^()\s]{0,500}\)?/g
const inlineCode = /`([^`]{2,300})`/g
const toolNamed = /\b([A-Z][A-Za-z]{1,30})`? tool\b/g
/** Words of a sentence that sends a request to a URL, instead of only referring to the URL. */
const calling = regexWith('i')`\b(base ?url|endpoint|api (url|base|host)|webhook|
  curl|wget|fetch(es)?|GET|POST|PUT|PATCH|DELETE|requests?|upload|download|send|submit|call|query|connect|clone|
  host)\b`

function readProse(given: string, lists: AccessLists): void {
  const line = keepAllowed(given)
  const unlinked = line.includes('](') ? line.replace(linkTarget, '](') : line
  readReferencedPlaces(unlinked, lists)
  readMcpTools(line, lists)
  if (line.includes(' tool')) for (const { 1: tool } of line.matchAll(toolNamed)) addTool(tool!, lists)
  if (line.includes('`')) for (const { 1: code } of line.matchAll(inlineCode)) readInline(code!, lists)
  if (line.includes('://') && calling.test(line)) readAddresses(unlinked, lists)
}

function readInline(code: string, lists: AccessLists): void {
  // Names of programs begin with a lower-case letter, names of variables and tools do not.
  if (/^[a-z]/.test(code)) {
    if (code.includes(' ') && isCommandLine(code)) readShellAccess(code, lists)
    return
  }
  const variable = /^\$?\{?([A-Z][A-Z0-9_]{2,63})\}?(?:=|$)/.exec(code)?.[1]
  if (variable !== undefined) {
    if (code.startsWith('$') || secretName.test(variable)) lists.addVariable(variable)
  } else if (isRequestLine(code)) readAddresses(code, lists)
  else addTool(code, lists)
}

const secretName = regex`^(?!INVALID|MISSING|EXPIRED|UNKNOWN|NO_|BAD_|ERR).*_
  (KEY|TOKEN|SECRET|PASSWORD|PASS|PAT|CREDENTIALS|DSN|URL|URI|HOST|ENDPOINT)$`

function addTool(name: string, lists: AccessLists): void {
  if (agentTools.has(name)) lists.add('tools', name)
}

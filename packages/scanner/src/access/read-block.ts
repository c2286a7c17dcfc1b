import type { AccessLists } from './access-lists.ts'
import { addVariable } from './environment.ts'
import { readAddresses } from './hosts.ts'
import { readPyproject, readServers } from './manifests.ts'
import { addPackage } from './packages.ts'
import { readMcpTools, readPlaces } from './places.ts'
import { dropBadExamples, isProhibited } from './prohibitions.ts'
import { readCode } from './read-code.ts'
import { isCommandLine, readShell, type Scope } from './read-shell.ts'

/** How a block of code is read. */
type Kind =
  | 'shell'
  | 'python'
  | 'script'
  | 'other'
  | 'servers'
  | 'assignments'
  | 'requests'
  | 'steps'
  | 'lines'
  | 'none'

const kinds: Readonly<Record<string, Kind>> = {
  ...named('shell', 'bash sh shell zsh console terminal shell-session shellsession fish shellscript bash-session'),
  ...named('python', 'python py python3 ipython'),
  ...named('script', 'javascript js typescript ts jsx tsx mjs cjs mts node vue svelte astro'),
  ...named('servers', 'json jsonc json5'),
  ...named('assignments', 'env dotenv ini properties'),
  ...named('requests', 'http https rest'),
  ...named('steps', 'yaml yml dockerfile docker containerfile makefile make just justfile'),
  ...named('lines', 'text txt plaintext powershell ps1 pwsh cmd bat batch'),
  ...named('none', 'markdown md mdx html css scss less xml svg mermaid csv tsv diff patch sql graphql latex tex dot'),
}

function named(kind: Kind, languages: string): Record<string, Kind> {
  return Object.fromEntries(languages.split(' ').map((language) => [language, kind]))
}

/** Finds what a block of code in a document uses, by its declared language. */
export function readBlock(given: string, language: string, lists: AccessLists, scope: Scope, ownFolder: string): void {
  const code = dropBadExamples(given)
  const kind = language === '' ? 'lines' : (kinds[language] ?? 'other')
  readers[kind](code, lists, scope, ownFolder)
  readMcpTools(code, lists)
}

type Reader = (code: string, lists: AccessLists, scope: Scope, ownFolder: string) => void

const readers: Readonly<Record<Kind, Reader>> = {
  none: () => {},
  shell(code, lists, scope, ownFolder) {
    const text = toScript(code)
    readPlaces(dropComments(text), lists, ownFolder)
    readShell(text, lists, scope)
  },
  python: (code, lists, scope, ownFolder) => readCode(code, 'python', lists, scope, ownFolder),
  script: (code, lists, scope, ownFolder) => readCode(code, 'script', lists, scope, ownFolder),
  other(code, lists, scope, ownFolder) {
    readCode(code, 'other', lists, scope, ownFolder)
    readPyproject(code, lists)
  },
  servers(code, lists, scope) {
    if (/"(?:command|url|serverUrl|env)"/.test(code)) readServers(code, lists, scope)
  },
  assignments(code, lists) {
    for (const { 1: name } of code.matchAll(/^\s{0,8}(?:export )?([A-Z][A-Z0-9_]{1,63})\s?=/gm))
      addVariable(lists, name!)
  },
  requests: (code, lists) => readAddresses(code, lists),
  steps: readSteps,
  lines: readLines,
}

/** If some lines have a prompt, they are input and the others are output. */
function toScript(code: string): string {
  if (!/^\s{0,8}[$%] /m.test(code)) return code
  const lines = code.split('\n')
  let goesOn = false
  const typed = lines.filter((line) => {
    const isTyped: boolean = goesOn || /^\s{0,8}[$%] /.test(line)
    goesOn = isTyped && line.trimEnd().endsWith('\\')
    return isTyped
  })
  return typed.map((line) => line.replace(/^\s{0,8}[$%] /, '')).join('\n')
}

function dropComments(code: string): string {
  return code.includes('#') ? code.replace(/(^|\s)#[^\n]*/g, '$1') : code
}

/** Build files and workflows: the lines that are run, and the items in them. */
function readSteps(code: string, lists: AccessLists, scope: Scope, ownFolder: string): void {
  readCode(code, 'other', lists, scope, ownFolder)
  for (const { 1: image } of code.matchAll(/^(?:FROM|\s{0,20}image:) {1,4}["']?([\w./:@-]{1,200})/gm))
    if (image !== 'scratch') addPackage(lists, 'docker', image!)
  const runs: string[] = []
  for (const line of code.split('\n')) {
    const run = /^\s{0,20}(?:- )?(?:RUN|run:|- run:) {1,4}(.{1,2000})/.exec(line)?.[1] ?? line.trim()
    if (run !== line.trim() || isCommandLine(run)) runs.push(run)
  }
  readShell(runs.filter((run) => run !== '|' && run !== '>').join('\n'), lists, scope)
}

/** A block without a language: lines that begin with a known program or a prompt. */
function readLines(code: string, lists: AccessLists, scope: Scope, ownFolder: string): void {
  const lines = code.split('\n')
  const typed: string[] = []
  let goesOn = false
  for (const line of lines) {
    const command = line.trim().replace(/^[$%>] /, '')
    const isTyped: boolean =
      goesOn || (isCommandLine(command) && !isProhibited(command)) || /^\s{0,8}[$%] [a-z.]/.test(line)
    if (isTyped) typed.push(command)
    else if (/^(?:GET|POST|PUT|PATCH|DELETE) https?:/.test(command)) readAddresses(command, lists)
    goesOn = isTyped && command.endsWith('\\')
  }
  if (typed.length === 0) return
  const script = typed.join('\n')
  readPlaces(dropComments(script), lists, ownFolder)
  readShell(script, lists, scope)
}

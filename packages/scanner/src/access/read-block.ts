import { entriesOf } from '@skillstead/protocol'
import { findLanguage, toLanguage } from '../code/parts.ts'
import { toTyped } from '../code/shell/shell-syntax.ts'
import type { AccessLists } from './access-lists.ts'
import { readPackageJson, readPyproject, readRequirements, readServers } from './manifests.ts'
import { addPackage } from './packages.ts'
import { dropBadExamples, isProhibitedLine } from './prohibitions.ts'
import { readCodeAccess } from './read-code.ts'
import { isCommandLine, readShellAccess } from './read-shell.ts'
import { readAddresses, readMcpTools, readReferencedPlaces } from './references.ts'

/** The readers of blocks of code and of files, by kind. */
const readers = {
  none: () => {},
  shell(code, lists) {
    const text = toTyped(code)
    readReferencedPlaces(dropBlockComments(text), lists)
    readShellAccess(text, lists)
  },
  python: (code, lists) => readCodeAccess(code, 'python', lists),
  script: (code, lists) => readCodeAccess(code, 'script', lists),
  other(code, lists) {
    readCodeAccess(code, 'other', lists)
    readPyproject(code, lists)
  },
  packageJson: readPackageJson,
  requirements: readRequirements,
  pyproject: readPyproject,
  servers: readServers,
  json(code, lists) {
    if (/"(?:command|url|serverUrl|env)"/.test(code)) readServers(code, lists)
  },
  assignments(code, lists) {
    for (const { 1: name } of code.matchAll(/^\s{0,8}(?:export )?([A-Z][A-Z0-9_]{1,63})\s?=/gm))
      lists.addVariable(name!)
  },
  requests: readAddresses,
  steps: readSteps,
  lines: readBlockLines,
} satisfies Record<string, (code: string, lists: AccessLists) => void>

type Kind = keyof typeof readers

/** The kinds of blocks, by the name of their language. Languages that `code/` reads are not included. */
const kinds: ReadonlyMap<string, Kind> = new Map(
  entriesOf({
    shell: 'fish command',
    script: 'vue svelte astro',
    other: 'rb go rs php pl lua java kt kts swift cs c cc cpp h psm1 ps1 bat cmd r jl ex exs dart groovy nu scpt',
    json: 'json jsonc json5',
    assignments: 'env dotenv ini properties',
    requests: 'http https rest',
    steps: 'yaml yml dockerfile docker containerfile makefile make just justfile',
    lines: 'text txt plaintext powershell ps1 pwsh cmd bat batch',
    none: 'markdown md mdx html css scss less xml svg mermaid csv tsv diff patch sql graphql latex tex dot',
  } satisfies Partial<Record<Kind, string>>).flatMap(([kind, names]) =>
    names.split(' ').map((name) => [name, kind] as const),
  ),
)
const fileNames: readonly (readonly [RegExp, Kind | 'markdown'])[] = [
  [/^package\.json$/, 'packageJson'],
  [/^requirements[\w.-]*\.txt$/, 'requirements'],
  [/^pyproject\.toml$/, 'pyproject'],
  [/^(?:\.?mcp[\w.-]*|settings[\w.-]*|hooks|plugin|claude_desktop_config)\.json$/, 'servers'],
  [/^(?:dockerfile|containerfile|makefile|justfile|(?:docker-)?compose\.ya?ml|action\.ya?ml)/i, 'steps'],
  [/^\.env/, 'assignments'],
  [/\.(?:md|mdx|markdown|mdc)$/i, 'markdown'],
  [/\.(?:ps1|bat|cmd)$/i, 'other'],
]

/** The kind of a file; undefined if it is neither instructions nor a program. */
export function toFileKind(path: string, bytes: Uint8Array): Kind | 'markdown' | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const known = fileNames.find(([pattern]) => pattern.test(name))?.[1]
  if (known) return known
  const head =
    bytes[0] === 0x23 ? Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 100)).toString() : ''
  const language = findLanguage(name, head)
  if (language) return language === 'jsx' ? 'script' : language
  const kind = kinds.get(name.slice(name.lastIndexOf('.') + 1).toLowerCase())
  if (kind === 'shell' || kind === 'script' || kind === 'other') return kind
  if (/(?:^|\/)\.github\/workflows\//.test(path)) return 'steps'
  return head.startsWith('#!') ? 'other' : undefined
}

/** The kind of a block of code, by the language that is declared for it. */
export function toBlockKind(name: string): Kind {
  if (name === '') return 'lines'
  const language = toLanguage(name)
  return language === 'jsx' ? 'script' : (language ?? kinds.get(name) ?? 'other')
}

/** Finds what a block of code or a file uses. */
export function readBlock(kind: Kind, given: string, lists: AccessLists): void {
  const code = dropBadExamples(given)
  readers[kind](code, lists)
  readMcpTools(code, lists)
}

function dropBlockComments(code: string): string {
  return code.includes('#') ? code.replace(/(^|\s)#[^\n]*/g, '$1') : code
}

/** Reads a build file or workflow: its images, the commands that it runs, and the places and variables in it. */
function readSteps(code: string, lists: AccessLists): void {
  readCodeAccess(code, 'other', lists)
  for (const { 1: image } of code.matchAll(/^(?:FROM|\s{0,20}image:) {1,4}["']?([\w./:@-]{1,200})/gm))
    if (image !== 'scratch') addPackage(lists, 'docker', image!)
  const runs = code.split('\n').flatMap((line) => {
    const run = /^\s{0,20}(?:- )?(?:RUN|run:|- run:) {1,4}(.{1,2000})/.exec(line)?.[1]
    return run ?? (isCommandLine(line.trim()) ? line.trim() : [])
  })
  readShellAccess(runs.filter((run) => run !== '|' && run !== '>').join('\n'), lists)
}

/** Reads a block without a language: lines that begin with a known program or a prompt. */
function readBlockLines(code: string, lists: AccessLists): void {
  let continues = false
  const typed: string[] = []
  for (const line of code.split('\n')) {
    const command = line.trim().replace(/^[$%>] /, '')
    const isTyped: boolean =
      continues || (isCommandLine(command) && !isProhibitedLine(command)) || /^\s{0,8}[$%] [a-z.]/.test(line)
    if (isTyped) typed.push(command)
    else if (isRequestLine(command)) readAddresses(command, lists)
    continues = isTyped && command.endsWith('\\')
  }
  const script = typed.join('\n')
  readReferencedPlaces(dropBlockComments(script), lists)
  readShellAccess(script, lists)
}

/** Whether a line is an HTTP request with a full URL, such as `GET https://host/path`. */
export function isRequestLine(line: string): boolean {
  return /^(?:GET|POST|PUT|PATCH|DELETE) https?:/.test(line)
}

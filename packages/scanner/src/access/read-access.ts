import type { Access } from '@skillstead/protocol'
import { parseSkillMd, readCapabilities } from '@skillstead/skill-format'
import { AccessLists } from './access-lists.ts'
import { addVariable } from './environment.ts'
import { readPackageJson, readPyproject, readRequirements, readServers } from './manifests.ts'
import { readBlock } from './read-block.ts'
import { readMarkdown } from './read-markdown.ts'
import { closeScope, createScope, toProgram, type Scope } from './read-shell.ts'

/** A file of a version. */
export interface AccessFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/** Maximum bytes to read of one file, and of all files. `cut` lists what was not read. */
const fileBytesMax = 256 * 1024
const bytesMax = 1024 * 1024

/**
 * Reads what a version uses, as far as its instructions and programs show. Pure, in linear time. Does not read data
 * files and images.
 */
export function readAccess(files: readonly AccessFile[]): Access {
  const reader = createAccessReader()
  for (const file of files) reader.read(file)
  return reader.finish()
}

/** As {@link readAccess}, file by file. */
export function createAccessReader() {
  const lists = new AccessLists()
  let left = bytesMax
  let ownFolder = ''
  return {
    /** Pass SKILL.md first. */
    read({ path, bytes }: AccessFile): void {
      const kind = toKind(path, bytes)
      if (kind === undefined) return
      const length = Math.min(bytes.length, fileBytesMax, left)
      left -= length
      const rest = bytes.subarray(length)
      if (rest.length > 0) lists.addCut(`${path}: the last ${rest.length} bytes were not read`, rest)
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString()
      try {
        if (path === 'SKILL.md') ownFolder = readFrontmatter(text, lists)
        const scope = createScope()
        readers[kind](text, lists, scope, ownFolder)
        closeScope(scope, lists)
      } catch {
        lists.addCut(`${path}: it could not be read`, bytes)
      }
    },
    finish: (): Access => lists.toAccess(),
  }
}

type Reader = (text: string, lists: AccessLists, scope: Scope, ownFolder: string) => void

const block =
  (language: string): Reader =>
  (text, lists, scope, ownFolder) =>
    readBlock(text, language, lists, scope, ownFolder)

/** The reader of each kind of file. */
const readers = {
  markdown: readMarkdown,
  shell: block('bash'),
  python: block('python'),
  script: block('js'),
  other: block('other'),
  steps: block('yaml'),
  packageJson: (text, lists) => readPackageJson(text, lists),
  requirements: (text, lists) => readRequirements(text, lists),
  pyproject: (text, lists) => readPyproject(text, lists),
  servers: (text, lists, scope) => readServers(text, lists, scope),
  variables: block('env'),
} satisfies Record<string, Reader>
type FileKind = keyof typeof readers

const endings: Readonly<Record<string, FileKind>> = {
  ...ending('markdown', 'md mdx markdown mdc'),
  ...ending('shell', 'sh bash zsh fish ksh bats command'),
  ...ending('python', 'py pyw pyi'),
  ...ending('script', 'js mjs cjs ts mts cts jsx tsx vue svelte'),
  ...ending(
    'other',
    'rb go rs php pl lua java kt kts swift cs c cc cpp h ps1 psm1 bat cmd r jl ex exs dart groovy nu scpt',
  ),
}
const names: readonly (readonly [RegExp, FileKind])[] = [
  [/^package\.json$/, 'packageJson'],
  [/^requirements[\w.-]*\.txt$/, 'requirements'],
  [/^pyproject\.toml$/, 'pyproject'],
  [/^(?:\.?mcp[\w.-]*|settings[\w.-]*|hooks|plugin|claude_desktop_config)\.json$/, 'servers'],
  [/^(?:dockerfile|containerfile|makefile|justfile|(?:docker-)?compose\.ya?ml|action\.ya?ml)/i, 'steps'],
  [/^\.env/, 'variables'],
]

function ending(kind: FileKind, all: string): Record<string, FileKind> {
  return Object.fromEntries(all.split(' ').map((name) => [name, kind]))
}

/** The kind of a file; undefined if it is neither instructions nor a program. */
function toKind(path: string, bytes: Uint8Array): FileKind | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const known =
    names.find(([pattern]) => pattern.test(name))?.[1] ?? endings[name.slice(name.lastIndexOf('.') + 1).toLowerCase()]
  if (known) return known
  if (/(?:^|\/)\.github\/workflows\//.test(path)) return 'steps'
  if (bytes[0] !== 0x23 || bytes[1] !== 0x21) return undefined
  const first = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 100)).toString()
  if (/python|uv run/.test(first)) return 'python'
  return /node|deno|bun|tsx/.test(first) ? 'script' : /sh\b/.test(first) ? 'shell' : 'other'
}

/** Reads the tools and requirements in frontmatter. Returns the skill's name, which is also that of its folder. */
function readFrontmatter(text: string, lists: AccessLists): string {
  const end = text.startsWith('---') ? text.indexOf('\n---', 3) : -1
  const head = text.slice(0, end === -1 ? 0 : end)
  if (!asking.test(head)) return /^name: {0,3}["']?([\w-]{1,64})/m.exec(head)?.[1] ?? ''
  const parsed = parseSkillMd(`${head}\n---\n`)
  const { frontmatter } = parsed
  const tools = frontmatter['allowed-tools'] ?? frontmatter.allowed_tools ?? frontmatter.tools
  for (const tool of readCapabilities({ ...parsed, frontmatter: { 'allowed-tools': tools } })) addTool(tool, lists)
  readRequired(frontmatter, lists, 0)
  return typeof frontmatter.name === 'string' ? frontmatter.name : ''
}

const asking = /\b(?:tools|requires|bins|env|primaryEnv)["']?\s{0,3}:/

/** `Bash(git:*)` also grants a program. */
function addTool(tool: string, lists: AccessLists): void {
  lists.add('tools', tool)
  const command = /^Bash\(([^\s:*)]{1,60})/.exec(tool)?.[1]
  const program = command === undefined ? undefined : toProgram(command)
  if (program) lists.add('commands', program)
}

/** Reads requirements in the notation of agent hosts: `requires: { bins, anyBins, env }`, at any depth. */
function readRequired(value: object, lists: AccessLists, depth: number): void {
  for (const [key, child] of Object.entries(value)) {
    const items = Array.isArray(child) ? child.filter((item) => typeof item === 'string').slice(0, 100) : []
    if (key === 'env') for (const name of items) addVariable(lists, name)
    if (key === 'bins' || key === 'anyBins') for (const name of items) if (toProgram(name)) lists.add('commands', name)
    if (key === 'primaryEnv' && typeof child === 'string') addVariable(lists, child)
    if (typeof child === 'object' && child !== null && !Array.isArray(child) && depth < 6)
      readRequired(child as object, lists, depth + 1)
  }
}

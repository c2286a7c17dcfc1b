import { setImmediate } from 'node:timers/promises'
import type { Access } from '@skillstead/protocol'
import { parseSkillMd, readCapabilities } from '@skillstead/skill-format'
import { AccessLists } from './access-lists.ts'
import { readBlock, toFileKind } from './read-block.ts'
import { readMarkdown } from './read-markdown.ts'
import { toProgram } from './read-shell.ts'

/** A file of a version. */
export interface AccessFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/** Maximum bytes to read of one file, and of all files. `cut` lists what was not read. */
const fileBytesMax = 256 * 1024
const bytesMax = 1024 * 1024
/** How long reading may block the event loop, in milliseconds; at least one file is read per batch. */
const batchMs = 10

/**
 * Reads what a version uses, as far as its instructions and programs show. Pure, in linear time. Does not read data
 * files and images. Pass SKILL.md first.
 */
export function readAccess(files: readonly AccessFile[]): Access {
  const reader = new AccessReader()
  for (const file of files) reader.read(file)
  return reader.lists.toAccess()
}

/** As `readAccess`, yielding to the event loop between batches of files. */
export async function inspectAccess(files: readonly AccessFile[]): Promise<Access> {
  const reader = new AccessReader()
  let startedMs = performance.now()
  for (const file of files) {
    reader.read(file)
    if (performance.now() - startedMs < batchMs) continue
    await setImmediate()
    startedMs = performance.now()
  }
  return reader.lists.toAccess()
}

class AccessReader {
  readonly lists = new AccessLists()
  #left = bytesMax

  read({ path, bytes }: AccessFile): void {
    const kind = toFileKind(path, bytes)
    if (kind === undefined) return
    const length = Math.min(bytes.length, fileBytesMax, this.#left)
    this.#left -= length
    const rest = bytes.subarray(length)
    if (rest.length > 0) this.lists.addCut(`${path}: the last ${rest.length} bytes were not read`, rest)
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString()
    try {
      if (path === 'SKILL.md') this.lists.ownFolder = readFrontmatter(text, this.lists)
      if (kind === 'markdown') readMarkdown(text, this.lists)
      else readBlock(kind, text, this.lists)
      this.lists.endFile()
    } catch {
      this.lists.addCut(`${path}: it could not be read`, bytes)
    }
  }
}

const asking = /\b(?:tools|requires|bins|env|primaryEnv)["']?\s{0,3}:/

/** Reads the tools and requirements in frontmatter. Returns the skill's name, which is also that of its folder. */
function readFrontmatter(text: string, lists: AccessLists): string {
  const end = text.startsWith('---') ? text.indexOf('\n---', 3) : -1
  const head = text.slice(0, end === -1 ? 0 : end)
  if (!asking.test(head)) return /^name: {0,3}["']?([\w-]{1,64})/m.exec(head)?.[1] ?? ''
  const parsed = parseSkillMd(`${head}\n---\n`)
  const { frontmatter } = parsed
  const tools = frontmatter['allowed-tools'] ?? frontmatter.allowed_tools ?? frontmatter.tools
  for (const tool of readCapabilities({ ...parsed, frontmatter: { 'allowed-tools': tools } })) {
    lists.add('tools', tool)
    // `Bash(git:*)` also grants a program.
    const program = toProgram(/^Bash\(([^\s:*)]{1,60})/.exec(tool)?.[1] ?? '')
    if (program) lists.add('commands', program)
  }
  readRequired(frontmatter, lists, 0)
  return typeof frontmatter.name === 'string' ? frontmatter.name : ''
}

/** Reads requirements in the notation of agent hosts: `requires: { bins, anyBins, env }`, at any depth. */
function readRequired(value: object, lists: AccessLists, depth: number): void {
  for (const [key, child] of Object.entries(value)) {
    const items = Array.isArray(child) ? child.filter((item) => typeof item === 'string').slice(0, 100) : []
    if (key === 'env') for (const name of items) lists.addVariable(name)
    if (key === 'bins' || key === 'anyBins') for (const name of items) if (toProgram(name)) lists.add('commands', name)
    if (key === 'primaryEnv' && typeof child === 'string') lists.addVariable(child)
    if (typeof child === 'object' && child !== null && !Array.isArray(child) && depth < 6)
      readRequired(child as object, lists, depth + 1)
  }
}

import { setImmediate } from 'node:timers/promises'
import { isRecord, type Access } from '@skillstead/protocol'
import { AccessLists } from './access-lists.ts'
import { readFrontmatterHead } from './frontmatter.ts'
import { readBlock, toFileKind } from './read-block.ts'
import { readServerNames } from './manifests.ts'
import { readMarkdown } from './read-markdown.ts'
import { toProgramName } from './read-shell.ts'

/** A file of a version. */
export interface AccessFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/** Maximum bytes to read of one file, and of all files together. The result lists the unread parts in `cut`. */
const fileBytesMax = 256 * 1024
const bytesMax = 1024 * 1024
/** How long reading may block the event loop, in milliseconds; at least one file is read per batch. */
const batchMs = 10

/**
 * Reads what a version uses, as far as its instructions and programs show. Pure, in linear time. Does not read data
 * files and images. Pass SKILL.md first, because the name in it applies to the files after it.
 */
export function readAccess(files: readonly AccessFile[]): Access {
  const lists = new AccessLists()
  for (const _ of readAccessFiles(files, lists));
  return lists.toAccess()
}

/** As `readAccess`, yielding to the event loop between batches of files. */
export async function inspectAccess(files: readonly AccessFile[]): Promise<Access> {
  const lists = new AccessLists()
  let startedMs = performance.now()
  for (const _ of readAccessFiles(files, lists)) {
    if (performance.now() - startedMs < batchMs) continue
    await setImmediate()
    startedMs = performance.now()
  }
  return lists.toAccess()
}

/** Reads the files one by one, so that a caller can pause between them. */
function* readAccessFiles(files: readonly AccessFile[], lists: AccessLists): Generator<void> {
  let left = bytesMax
  for (const { path, bytes } of files) {
    const kind = toFileKind(path, bytes)
    if (kind === undefined) continue
    const length = Math.min(bytes.length, fileBytesMax, left)
    left -= length
    const rest = bytes.subarray(length)
    if (rest.length > 0) lists.addCut(`${path}: the last ${rest.length} bytes were not read`, rest)
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString()
    try {
      if (path === 'SKILL.md') lists.ownFolder = readFrontmatter(text, lists)
      if (path === 'mcp.json') readServerNames(text, lists)
      if (kind === 'markdown') readMarkdown(text, lists)
      else readBlock(kind, text, lists)
      lists.endFile()
    } catch {
      lists.addCut(`${path}: it could not be read`, bytes)
    }
    yield
  }
}

/** Reads the tools and requirements in frontmatter. Returns the skill's name, which is also that of its folder. */
function readFrontmatter(text: string, lists: AccessLists): string {
  const { name, frontmatter, tools } = readFrontmatterHead(
    text,
    /\b(?:tools|requires|bins|env|primaryEnv)["']?\s{0,3}:/,
  )
  for (const tool of tools) {
    lists.add('tools', tool)
    // `Bash(git:*)` grants a tool and names a program.
    const program = toProgramName(/^Bash\(([^\s:*)]{1,60})/.exec(tool)?.[1] ?? '')
    if (program) lists.add('commands', program)
  }
  readRequired(frontmatter, lists, 0)
  return name
}

/** Reads requirements in the notation of agent hosts: `requires: { bins, anyBins, env }`, at any depth. */
function readRequired(value: object, lists: AccessLists, depth: number): void {
  for (const [key, child] of Object.entries(value)) {
    const items = Array.isArray(child) ? child.filter((item) => typeof item === 'string').slice(0, 100) : []
    if (key === 'env') for (const name of items) lists.addVariable(name)
    if (key === 'bins' || key === 'anyBins')
      for (const name of items) if (toProgramName(name)) lists.add('commands', name)
    if (key === 'primaryEnv' && typeof child === 'string') lists.addVariable(child)
    if (isRecord(child) && depth < 6) readRequired(child, lists, depth + 1)
  }
}

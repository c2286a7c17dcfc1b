import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { JsonLimitError, isRecord, toFields } from '@skillstead/protocol'
import {
  McpJsonError,
  parseUniqueJson,
  toDigest,
  type McpServer,
  type McpServers,
} from '@skillstead/skill-format/archives'
import { replaceAlone } from '../files/write-whole.ts'
import type { Place } from './install-place.ts'

/** The file with the MCP servers of a project, which Claude Code reads. */
export const projectServersFile = '.mcp.json'

const bytesMax = 1024 * 1024
const entriesKey = 'mcpServers'

type Entries = Readonly<Record<string, unknown>>

/** A change of the MCP servers of one skill in the `.mcp.json` of the project. */
export interface ServersChange {
  readonly fullName: string
  /** The new entries by server name; empty to remove all entries of the skill. */
  readonly wanted: Entries
  /** The digests of the entries that earlier commands wrote for the skill, by server name. */
  readonly recorded: Readonly<Record<string, string>>
  /** The names of the servers that earlier commands wrote for other installed skills. */
  readonly others: ReadonlySet<string>
}

/** The digests by which a later command recognises entries that were not edited meanwhile. */
export function toServerRecord(entries: Entries): Record<string, string> {
  return Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, toEntryDigest(entry)]))
}

/**
 * The entries of `.mcp.json` for the servers of an installed skill. Paths of the skill become paths of its folder,
 * relative to the project, so that the file is valid on other machines. Throws for a server that the file cannot
 * express.
 */
export function toProjectEntries(fullName: string, servers: McpServers, target: string): Entries {
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => {
      // Claude Code would replace `${...}` in the path with the value of a variable.
      const missing = target.includes('${') ? `a folder without placeholders (${target})` : findInexpressible(server)
      if (missing === undefined) return [name, toServerEntry(server, `./${target}`)]
      throw new Error(
        `The MCP server '${name}' of ${fullName} needs ${missing}, which ${projectServersFile} cannot express. ` +
          'Install the skill without --with-mcp, and add the server to your client by hand. Nothing was changed.',
      )
    }),
  )
}

/**
 * Changes the entries of skills in the project's `.mcp.json`, and calls `commit` before the file is replaced: if
 * `commit` throws, the file is unchanged. Throws if the file has another server of a wanted name, or cannot be read.
 * Returns the names of servers that were not changed, because their entries were edited since a command wrote them.
 */
export async function changeProjectServers(
  place: Place,
  changes: readonly ServersChange[],
  commit: () => Promise<void>,
): Promise<string[]> {
  const file = join(place.root, projectServersFile)
  const before = readProjectFile(file)
  const first = applyChanges(before, changes)
  if (first.text === before.text) await commit()
  else {
    const write = async () => {
      const { text } = applyChanges(readProjectFile(file), changes)
      await commit()
      return text
    }
    await replaceAlone(file, write, before.mode)
  }
  return first.left
}

/** Whether the project's file has an MCP server of a name. An unreadable file has none. */
export function hasProjectServer({ root }: Place, name: string): boolean {
  try {
    const { document } = readProjectFile(join(root, projectServersFile))
    return Object.hasOwn(toFields(document[entriesKey]), name)
  } catch {
    return false
  }
}

interface ProjectFile {
  /** The text of the file; empty if there is no file. */
  readonly text: string
  readonly document: Entries
  /** The mode of the file, which is kept: a file with secrets may be private to its owner. */
  readonly mode: number | undefined
}

function readProjectFile(file: string): ProjectFile {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (!stats) return { text: '', document: {}, mode: undefined }
  // A symbolic link could lead out of the project.
  if (!stats.isFile()) throw toUnusable(file, 'it is not a file')
  if (stats.size > bytesMax) throw toUnusable(file, `it is larger than ${bytesMax / 1024 / 1024} MiB`)
  const text = readFileSync(file, 'utf8')
  const document = parseProjectFile(file, text)
  if (!isRecord(document) || !isRecord(document[entriesKey] ?? {}))
    throw toUnusable(file, `it is not an object with ${entriesKey}`)
  return { text, document, mode: stats.mode & 0o777 }
}

function parseProjectFile(file: string, text: string): unknown {
  try {
    return parseUniqueJson(text)
  } catch (error) {
    const isNamed = error instanceof JsonLimitError || error instanceof McpJsonError
    throw toUnusable(file, isNamed ? error.message.replace(/\.$/, '') : 'it is not JSON')
  }
}

function applyChanges({ text, document }: ProjectFile, changes: readonly ServersChange[]) {
  const left: string[] = []
  const before = toFields(document[entriesKey])
  const entries = new Map(Object.entries(before))
  for (const change of changes) left.push(...applyChange(entries, change))
  const after = Object.fromEntries(entries)
  if (isDeepStrictEqual(before, after)) return { text, left }
  return { text: formatAs(text, { ...document, [entriesKey]: after }), left }
}

/** The JSON of a document, with the indentation, the line ends and the presence of a last line end as in `text`. */
function formatAs(text: string, document: Entries): string {
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '  '
  const end = /\r?\n/.exec(text)?.[0] ?? '\n'
  const isEnded = text === '' || text.endsWith('\n')
  return `${JSON.stringify(document, null, indent)}${isEnded ? '\n' : ''}`.replaceAll('\n', end)
}

function applyChange(entries: Map<string, unknown>, { fullName, wanted, recorded, others }: ServersChange): string[] {
  const left: string[] = []
  const isOwn = (name: string) =>
    !others.has(name) && Object.hasOwn(recorded, name) && recorded[name] === toEntryDigest(entries.get(name))
  for (const name of Object.keys(recorded)) {
    if (Object.hasOwn(wanted, name) || !entries.has(name)) continue
    if (isOwn(name)) entries.delete(name)
    else left.push(name)
  }
  for (const [name, entry] of Object.entries(wanted)) {
    if (entries.has(name) && !isDeepStrictEqual(entries.get(name), entry) && !isOwn(name))
      throw new Error(
        `${projectServersFile} already has another MCP server '${name}' than ${fullName}. Rename or remove it there, or ` +
          'install the skill without --with-mcp. Nothing was changed.',
      )
    entries.set(name, entry)
  }
  return left
}

function findInexpressible(server: McpServer): string | undefined {
  if (server.type !== 'stdio') return undefined
  if (server.cwd !== undefined) return 'a working directory (cwd)'
  const texts = [...(server.args ?? []), ...Object.values(server.env ?? {})]
  return texts.some((text) => text.includes('${PLUGIN_DATA}')) ? 'a folder for its data (${PLUGIN_DATA})' : undefined
}

function toServerEntry(server: McpServer, folder: string): Entries {
  if (server.type !== 'stdio') {
    const { type, url, headers } = server
    return { type: type === 'sse' ? 'sse' : 'http', url, ...(headers && { headers }) }
  }
  const { command, args, env = {} } = server
  const expand = (text: string) => text.replaceAll('${PLUGIN_ROOT}', () => folder)
  return {
    type: 'stdio',
    command: command.startsWith('./') ? `${folder}${command.slice(1)}` : command,
    ...(args && { args: args.map(expand) }),
    env: {
      ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, expand(value)])),
      PLUGIN_ROOT: folder,
    },
  }
}

function toEntryDigest(entry: unknown): string {
  return toDigest(JSON.stringify(entry) ?? '')
}

function toUnusable(file: string, problem: string): Error {
  return new Error(`${file} cannot be used: ${problem}. Fix it, or restore an earlier one. Nothing was changed.`)
}

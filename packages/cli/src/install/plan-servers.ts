import { attempt } from '@skillstead/protocol'
import type { ContentFile } from '@skillstead/client/verify'
import { describeMcpServer, McpJsonError, readMcpServers, type McpServers } from '@skillstead/skill-format/archives'
import { flag, type Options } from '../command/command.ts'
import { readFolderState } from './folder-state.ts'
import { toTargetPath } from './install-place.ts'
import { findLocked } from './lock.ts'
import type { Item, ItemPlan } from './plan-folders.ts'
import { projectServersFile, toProjectEntries, toServerRecord, type ServersChange } from './project-servers.ts'
import type { Session } from './session.ts'

/** Option that also installs the MCP servers of skills. */
export const withMcpOption: Options = {
  'with-mcp': { help: `write the MCP servers of the skills to ${projectServersFile} of this project, for Claude Code` },
}

/** The MCP servers of a skill that is installed. */
export interface PlannedServers {
  readonly fullName: string
  /** With `--with-mcp` the servers that are written; otherwise those that the project lacks or has in another form. */
  readonly shown: readonly string[]
  /** Undefined without `--with-mcp`. */
  readonly change?: ServersChange
}

/** Plans what becomes of the MCP servers in an installed version. Throws for invalid servers with `--with-mcp`. */
export function planServers(session: Session, { item }: ItemPlan, files: readonly ContentFile[]): PlannedServers {
  const { fullName, formerName = fullName, targets } = item
  const isAsked = flag(session.given, 'with-mcp')
  const servers = readServers(item, files, isAsked)
  // Claude Code starts the servers, so its own folder is preferred.
  const target = targets.find((one) => one.startsWith('.claude/')) ?? targets[0]!
  if (!isAsked) {
    const recorded = findLocked(session.lock, formerName)?.mcp ?? {}
    return { fullName, shown: listPending(fullName, servers, target, recorded) }
  }
  const entries = toProjectEntries(fullName, servers, target)
  const change = toServersChange(session, formerName, new Set([formerName, fullName]), { fullName, wanted: entries })
  return { fullName, shown: describeServers(servers), ...(change && { change }) }
}

/**
 * The change of the entries of a skill with this name in the lock; undefined if the skill neither has nor had entries,
 * and for a user account. `gone`: the names of the skills whose entries in the lock the same command replaces or
 * removes.
 */
export function toServersChange(
  { lock, place }: Session,
  lockedName: string,
  gone: ReadonlySet<string>,
  { fullName = lockedName, wanted = {} }: Partial<Pick<ServersChange, 'fullName' | 'wanted'>> = {},
): ServersChange | undefined {
  const recorded = findLocked(lock, lockedName)?.mcp ?? {}
  if (place.isGlobal || Object.keys({ ...recorded, ...wanted }).length === 0) return undefined
  const rest = Object.entries(lock.skills).filter(([name]) => !gone.has(name))
  const others = new Set(rest.flatMap(([, { mcp = {} }]) => Object.keys(mcp)))
  return { fullName, wanted, recorded, others }
}

/** The files of a version that is installed already: from the cache, or from a folder whose content has the digest. */
export async function readInstalledFiles(
  { cache, place }: Session,
  { item }: ItemPlan,
): Promise<readonly ContentFile[]> {
  const cached = await cache.find(item.digest)
  if (cached) return cached
  const state = await readFolderState(toTargetPath(place, item.targets[0]!), [item.digest], cache)
  if (state.kind === 'version' && state.digest === item.digest) return state.files
  throw new Error(`The files of ${item.fullName}@${item.version} cannot be read. Nothing was changed; try again.`)
}

function readServers({ fullName, version }: Item, files: readonly ContentFile[], isAsked: boolean): McpServers {
  try {
    return readMcpServers(files)
  } catch (error) {
    if (!(error instanceof McpJsonError)) throw error
    if (!isAsked) return {}
    throw new Error(`${error.path} of ${fullName}@${version} is refused. ${error.message} Nothing was changed.`, {
      cause: error,
    })
  }
}

function describeServers(servers: McpServers): string[] {
  return Object.entries(servers).map(([name, server]) => `${name} (${describeMcpServer(server)})`)
}

/** Servers whose entries no earlier command wrote in the current form, and servers that the skill no longer has. */
function listPending(
  fullName: string,
  servers: McpServers,
  target: string,
  recorded: ServersChange['recorded'],
): string[] {
  // Servers that the file cannot express were never written.
  const now = attempt(() => toServerRecord(toProjectEntries(fullName, servers, target))) ?? {}
  const pending = Object.entries(servers).filter(
    ([name]) => recorded[name] === undefined || recorded[name] !== now[name],
  )
  const gone = Object.keys(recorded).filter((name) => !Object.hasOwn(servers, name))
  return [...describeServers(Object.fromEntries(pending)), ...gone.map((name) => `${name} (no longer in the skill)`)]
}

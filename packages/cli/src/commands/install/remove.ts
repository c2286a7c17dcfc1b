import { toOneLine } from '@skillstead/protocol'
import { command } from '../../command/command.ts'
import { toFileSystemError } from '../../install/file-system-error.ts'
import { readFolderState, toSeen } from '../../install/folder-state.ts'
import { globalOption, toTargetPath } from '../../install/install-place.ts'
import { changeLock, type LockedSkill } from '../../install/lock.ts'
import { findEdits, toOnePath } from '../../install/plan-folders.ts'
import { toServersChange } from '../../install/plan-servers.ts'
import { changeProjectServers, projectServersFile } from '../../install/project-servers.ts'
import { replaceFolders } from '../../install/replace-folders.ts'
import { forceOption, listLocked, openSession, toLockOptions, type Session } from '../../install/session.ts'
import type { FolderChange } from '../../install/staging.ts'

interface Removed {
  removed: { fullName: string; version: string; targets: readonly string[] }[]
  /** MCP servers that stay in the project, because they were changed or another skill has them too. */
  leftServers: string[]
  skipped: { fullName: string; target: string; reason: string }[]
  /** Removed skills that installed skills require. */
  required: { fullName: string; range: string; by: string }[]
}

export const commands = {
  remove: command({
    description: 'Remove installed skills: their folders and their entries in skills.lock.',
    words: ['NAME...'],
    options: { ...globalOption, ...forceOption },
    async run(given, output) {
      const session = await openSession(given, output)
      const result: Removed = { removed: [], leftServers: [], skipped: [], required: [] }
      const changes: FolderChange[] = []
      for (const [fullName, locked] of listLocked(session)) {
        const { folders, skipped } = await findFolders(session, fullName, locked)
        if (skipped) result.skipped.push(skipped)
        else {
          changes.push(...folders)
          result.removed.push({ fullName, version: locked.version, targets: locked.targets })
        }
      }
      try {
        await replaceFolders(changes, async () => {
          result.leftServers = await removeServers(session, result)
        })
      } catch (error) {
        throw toFileSystemError(error)
      }
      return { ...result, required: listRequired(session, result) }
    },
    show: ({ removed, leftServers, skipped, required }) => [
      ...removed.map(({ fullName, version, targets }) => `Removed ${fullName}@${version} from ${targets.join(', ')}.`),
      ...leftServers.map(
        (name) =>
          `Left the MCP server '${name}' in ${projectServersFile}: it was changed, or another skill has it too.`,
      ),
      ...required.map(
        ({ fullName, range, by }) => `Warning: ${by} requires ${fullName} ${range}. Install it again, or remove ${by}.`,
      ),
      ...skipped.map(
        ({ target, reason }) => `Left ${target} as it is: ${toOneLine(reason)}. Use --force to remove it anyway.`,
      ),
    ],
    hasFailed: ({ skipped }) => skipped.length > 0,
  }),
}

function listRequired({ lock }: Session, { removed }: Removed): Removed['required'] {
  const gone = new Set(removed.map(({ fullName }) => fullName))
  const left = Object.entries(lock.skills).filter(([by]) => !gone.has(by))
  return left.flatMap(([by, { requires = {} }]) =>
    Object.entries(requires).flatMap(([fullName, range]) => (gone.has(fullName) ? [{ fullName, range, by }] : [])),
  )
}

async function findFolders(session: Session, fullName: string, locked: LockedSkill) {
  const folders = new Map<string, FolderChange>()
  for (const target of locked.targets) {
    const path = toTargetPath(session.place, target)
    const state = await readFolderState(path, [locked.digest], session.cache)
    if (state.kind === 'missing') continue
    const reason = session.force ? undefined : await findEdits(session, state, fullName)
    if (reason) return { folders: [], skipped: { fullName, target, reason } }
    // Folders of several agents can be the same folder through symbolic links.
    folders.set(toOnePath(path), { path, target, fullName, seen: session.force ? undefined : toSeen(state) })
  }
  return { folders: [...folders.values()] }
}

async function removeServers(session: Session, result: Removed): Promise<string[]> {
  const gone = new Set(result.removed.map(({ fullName }) => fullName))
  const changes = [...gone].flatMap((fullName) => toServersChange(session, fullName, gone) ?? [])
  const commit = () => removeFromLock(session, result)
  if (changes.length > 0) return changeProjectServers(session.place, changes, commit)
  await commit()
  return []
}

async function removeFromLock({ place }: Session, { removed }: Removed): Promise<void> {
  if (removed.length === 0) return
  const gone = new Set(removed.map(({ fullName }) => fullName))
  await changeLock(place.lockFolder, toLockOptions(place), (skills) =>
    Object.fromEntries(Object.entries(skills).filter(([fullName]) => !gone.has(fullName))),
  )
}

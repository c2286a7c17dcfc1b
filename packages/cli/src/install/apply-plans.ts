import { compareVersions, type RegistryApi, toOneLine } from '@skillstead/protocol'
import { SingleBar } from 'cli-progress'
import { flag } from '../command/command.ts'
import { refuseDangerous } from '../scan/dangerous.ts'
import type { Output } from '../terminal/output.ts'
import { fetchPackage } from './fetch-package.ts'
import { toFileSystemError } from './file-system-error.ts'
import { changeLock, type LockedSkill } from './lock.ts'
import { planServers, readInstalledFiles, type PlannedServers } from './plan-servers.ts'
import type { Item, ItemPlan } from './plan-folders.ts'
import { changeProjectServers, projectServersFile, toServerRecord } from './project-servers.ts'
import { listNeeds } from './requirements.ts'
import { replaceFolders } from './replace-folders.ts'
import { toLockOptions, type Session } from './session.ts'

/** The result of an install or update. */
export interface Installed {
  readonly skills: readonly {
    readonly fullName: string
    readonly version: string
    readonly digest: string
    readonly targets: readonly string[]
    /** `downgraded`: the installed version was newer, but was yanked, recalled or out of a range, or not what a pack pins. */
    readonly change: 'installed' | 'updated' | 'downgraded' | 'restored' | 'unchanged'
    /** The previously installed version. */
    readonly from: string | null
    /** The skills that require this skill; absent for a skill that the command names. */
    readonly requiredBy?: readonly string[]
  }[]
  /** Folders that were left unchanged, because local changes would be lost. */
  readonly skipped: readonly { fullName: string; version: string; target: string; reason: string }[]
  /** Recalled versions: those of the lock that `install` left as they are, and those that `update` could not replace. */
  readonly recalled: readonly { readonly fullName: string; readonly version: string }[]
  /** The MCP servers of skills: those that were written to the project, and those that `--with-mcp` would write. */
  readonly mcp: readonly { fullName: string; servers: readonly string[]; written: boolean }[]
  readonly warnings: readonly string[]
}

const downloadsAtATime = 4

/** Downloads the packages that are needed and not in the cache. */
export async function fetchPlans(session: Session, api: RegistryApi, plans: readonly ItemPlan[]): Promise<void> {
  const missing = await listMissing(session, plans)
  const done = startProgress(session.output, missing.length)
  const queue = [...missing]
  const failures: unknown[] = []
  async function work(): Promise<void> {
    for (let item = queue.shift(); item && failures.length === 0; item = queue.shift()) {
      try {
        await fetchPackage(api, item, session.cache, session.output.say)
        done.step(item)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: downloadsAtATime }, work))
  done.stop()
  if (failures.length > 0) throw failures[0]
}

/** Throws if the plans would write a version that the scanner rates dangerous and the caller did not allow that. */
export function refuseDangerousPlans({ given }: Session, plans: readonly ItemPlan[]): void {
  const dangerous = plans.filter(({ item, writes }) => item.isDangerous && writes.length > 0)
  const names = dangerous.map(({ item }) => `${item.fullName}@${item.version}`)
  const advice = `Nothing was changed. Read \`skillstead show ${dangerous[0]?.item.fullName}\`, or pass --allow-dangerous.`
  refuseDangerous(given, names, advice)
}

/** The items that are to be written and are not in the cache. */
export async function listMissing({ cache }: Session, plans: readonly ItemPlan[]): Promise<Item[]> {
  const missing: Item[] = []
  for (const { item, writes } of plans) {
    if (writes.length > 0 && !(await cache.find(item.digest))) missing.push(item)
  }
  return missing
}

function startProgress(output: Output, total: number) {
  const isBar = total > 1 && !output.json && output.stderr.isTTY
  const bar = isBar ? new SingleBar({ format: '{bar} {value} of {total} skills', stream: output.stderr }) : undefined
  bar?.start(total, 0)
  let count = 0
  return {
    step({ fullName, version }: Item): void {
      count += 1
      if (bar) bar.increment()
      else if (total > 1) output.say(`Downloaded ${fullName}@${version} (${count} of ${total}).`)
    },
    stop: () => bar?.stop(),
  }
}

/** Writes the folders and the lock, all or nothing. The packages must be in the cache. */
export async function applyPlans(session: Session, plans: readonly ItemPlan[]): Promise<Installed> {
  const kept = plans.filter(({ skipped }) => !skipped)
  const servers = new Map<ItemPlan, PlannedServers>()
  const changes = kept.flatMap((plan) =>
    plan.writes.map((write) => ({
      ...write,
      ...plan.item,
      async readFiles() {
        const files = await readCachedFiles(session, plan.item)
        servers.set(plan, planServers(session, plan, files))
        return files
      },
    })),
  )
  if (flag(session.given, 'with-mcp')) {
    for (const plan of kept.filter(({ writes }) => writes.length === 0))
      servers.set(plan, planServers(session, plan, await readInstalledFiles(session, plan)))
  }
  try {
    await replaceFolders(changes, () => commitPlans(session, kept, [...servers.values()]))
  } catch (error) {
    throw toFileSystemError(error)
  }
  return {
    skills: kept.map((plan) => toInstalledSkill(session, plan)),
    skipped: plans.flatMap(({ item: { fullName, version }, skipped }) =>
      skipped ? [{ fullName, version, ...skipped }] : [],
    ),
    recalled: [],
    mcp: [...servers.values()].flatMap(({ fullName, shown, change }) =>
      shown.length > 0 ? [{ fullName, servers: shown, written: change !== undefined }] : [],
    ),
    warnings: [...plans.flatMap(({ item }) => item.warnings), ...listNeeds(session, kept)],
  }
}

async function readCachedFiles({ cache }: Session, { fullName, version, digest }: Item) {
  const files = await cache.find(digest)
  if (!files) throw new Error(`${fullName}@${version} disappeared from the cache. Nothing was changed; try again.`)
  return files
}

/** Writes the MCP servers that were asked for, and the lock. */
async function commitPlans(session: Session, plans: readonly ItemPlan[], servers: readonly PlannedServers[]) {
  const changes = servers.flatMap(({ change }) => change ?? [])
  const commit = () => addToLock(session, plans, servers)
  if (changes.length === 0) await commit()
  else await changeProjectServers(session.place, changes, commit)
}

/** Another command may have changed the lock meanwhile, so merge only our own entries into it. */
async function addToLock(
  { place }: Session,
  plans: readonly ItemPlan[],
  servers: readonly PlannedServers[],
): Promise<void> {
  const written = new Map(servers.flatMap(({ change }) => (change ? [[change.fullName, change.wanted] as const] : [])))
  await changeLock(place.lockFolder, toLockOptions(place), (before) => {
    const skills: Record<string, LockedSkill> = { ...before }
    for (const { item } of plans) {
      const { fullName, formerName, version, digest, source, targets, requires } = item
      const entries = written.get(fullName)
      const mcp = entries ? toServerRecord(entries) : before[formerName ?? fullName]?.mcp
      if (formerName !== undefined) delete skills[formerName]
      skills[fullName] = { version, digest, source, targets, mcp, requires }
    }
    return skills
  })
}

function toInstalledSkill({ lock }: Session, { item, writes }: ItemPlan): Installed['skills'][number] {
  const { fullName, formerName, version, digest, targets, requiredBy } = item
  const before = lock.skills[formerName ?? fullName]
  return {
    fullName,
    version,
    digest,
    targets,
    change: toInstallChange(before, item, writes.length),
    from: before?.version ?? null,
    ...(requiredBy && { requiredBy }),
  }
}

function toInstallChange(before: LockedSkill | undefined, { version, targets }: Item, written: number) {
  if (!before) return 'installed'
  if (before.version !== version) return compareVersions(version, before.version) < 0 ? 'downgraded' : 'updated'
  if (targets.length > before.targets.length) return 'installed'
  return written > 0 ? 'restored' : 'unchanged'
}

/** The result as lines of text. */
export function showInstalled({ skills, skipped, mcp, warnings }: Installed): string[] {
  return [
    ...skills.map(({ fullName, version, targets, change, from, requiredBy = [] }) => {
      const where = `${targets.join(', ')}${requiredBy.length > 0 ? `, required by ${requiredBy.join(', ')}` : ''}`
      if (change === 'updated') return `Updated ${fullName} from ${from} to ${version} in ${where}.`
      if (change === 'downgraded') return `Downgraded ${fullName} from ${from} to ${version} in ${where}.`
      if (change === 'unchanged') return `${fullName}@${version} is already in ${where}.`
      return `${change === 'installed' ? 'Installed' : 'Restored'} ${fullName}@${version} in ${where}.`
    }),
    ...mcp.map(toServersLine),
    ...warnings.map((warning) => `Warning: ${toOneLine(warning)}`),
    ...skipped.map(
      ({ fullName, version, target, reason }) =>
        `Left ${target} as it is: ${toOneLine(reason)}. Use --force to install ${fullName}@${version} there anyway.`,
    ),
  ]
}

function toServersLine({ fullName, servers, written }: Installed['mcp'][number]): string {
  const list = servers.map(toOneLine).join(', ')
  if (written) {
    return `${projectServersFile} has the MCP servers of ${fullName}: ${list}. Claude Code asks before it starts them.`
  }
  return (
    `The MCP servers of ${fullName} are not in ${projectServersFile}, or differ there: ${list}. To write them: ` +
    `skillstead install ${fullName} --with-mcp`
  )
}

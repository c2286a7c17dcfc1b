import { compareVersions, type RegistryApi, toOneLine } from '@skillstead/protocol'
import { SingleBar } from 'cli-progress'
import { refuseDangerous } from '../scan/dangerous.ts'
import type { Output } from '../terminal/output.ts'
import { fetchPackage } from './fetch-package.ts'
import { toFileSystemError } from './file-system-error.ts'
import { changeLock, type LockedSkill } from './lock.ts'
import type { Item, ItemPlan } from './plan-folders.ts'
import { replaceFolders } from './replace-folders.ts'
import { toLockOptions, type Session } from './session.ts'

/** The result of an install or update. */
export interface Installed {
  readonly skills: readonly {
    readonly fullName: string
    readonly version: string
    readonly digest: string
    readonly targets: readonly string[]
    /** `downgraded`: the installed version was newer, but was yanked or is not the one that a pack pins. */
    readonly change: 'installed' | 'updated' | 'downgraded' | 'restored' | 'unchanged'
    /** The previously installed version. */
    readonly from: string | null
  }[]
  /** Folders that were left unchanged, because local changes would be lost. */
  readonly skipped: readonly { fullName: string; version: string; target: string; reason: string }[]
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
  const changes = kept.flatMap(({ item, writes }) =>
    writes.map((write) => ({ ...write, ...item, readFiles: () => readCachedFiles(session, item) })),
  )
  const items = kept.map(({ item }) => item)
  try {
    await replaceFolders(changes, () => addToLock(session, items))
  } catch (error) {
    throw toFileSystemError(error)
  }
  return {
    skills: kept.map((plan) => toInstalledSkill(session, plan)),
    skipped: plans.flatMap(({ item: { fullName, version }, skipped }) =>
      skipped ? [{ fullName, version, ...skipped }] : [],
    ),
    warnings: plans.flatMap(({ item }) => item.warnings),
  }
}

async function readCachedFiles({ cache }: Session, { fullName, version, digest }: Item) {
  const files = await cache.find(digest)
  if (!files) throw new Error(`${fullName}@${version} disappeared from the cache. Nothing was changed; try again.`)
  return files
}

/** Another command may have changed the lock meanwhile, so merge only our own entries into it. */
async function addToLock({ place }: Session, items: readonly Item[]): Promise<void> {
  await changeLock(place.lockFolder, toLockOptions(place), (before) => {
    const skills: Record<string, LockedSkill> = { ...before }
    for (const { fullName, formerName, version, digest, source, targets } of items) {
      if (formerName !== undefined) delete skills[formerName]
      skills[fullName] = { version, digest, source, targets }
    }
    return skills
  })
}

function toInstalledSkill({ lock }: Session, { item, writes }: ItemPlan): Installed['skills'][number] {
  const { fullName, formerName, version, digest, targets } = item
  const before = lock.skills[formerName ?? fullName]
  return {
    fullName,
    version,
    digest,
    targets,
    change: toInstallChange(before, item, writes.length),
    from: before?.version ?? null,
  }
}

function toInstallChange(before: LockedSkill | undefined, { version, targets }: Item, written: number) {
  if (!before) return 'installed'
  if (before.version !== version) return compareVersions(version, before.version) < 0 ? 'downgraded' : 'updated'
  if (targets.length > before.targets.length) return 'installed'
  return written > 0 ? 'restored' : 'unchanged'
}

/** The result as lines of text. */
export function showInstalled({ skills, skipped, warnings }: Installed): string[] {
  return [
    ...skills.map(({ fullName, version, targets, change, from }) => {
      const where = targets.join(', ')
      if (change === 'updated') return `Updated ${fullName} from ${from} to ${version} in ${where}.`
      if (change === 'downgraded') return `Downgraded ${fullName} from ${from} to ${version} in ${where}.`
      if (change === 'unchanged') return `${fullName}@${version} is already in ${where}.`
      return `${change === 'installed' ? 'Installed' : 'Restored'} ${fullName}@${version} in ${where}.`
    }),
    ...warnings.map((warning) => `Warning: ${toOneLine(warning)}`),
    ...skipped.map(
      ({ fullName, version, target, reason }) =>
        `Left ${target} as it is: ${toOneLine(reason)}. Use --force to install ${fullName}@${version} there anyway.`,
    ),
  ]
}

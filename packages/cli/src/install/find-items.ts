import { RegistryError, isSkillName, type ErrorCode, type RegistryApi } from '@skillstead/protocol'
import { UsageError } from '../command.ts'
import { isFullName, localSource, toFolded, type LockedSkill } from './lock.ts'
import { getOffer, getPackMembers, type Asked } from './offer.ts'
import { toSkillTarget, toUsualFolders } from './install-place.ts'
import type { Item } from './plan-folders.ts'
import { getLocked, type Session } from './session.ts'

/** A word of `install`: a skill, perhaps in one version, or a pack. */
export type Word = Asked | { readonly pack: string }

/** What a word of `install` means. Throws {@link UsageError} for what is no name. */
export function parseWord(word: string): Word {
  const slug = /^pack:(.*)$/.exec(word)?.[1]
  if (slug !== undefined && isSkillName(slug)) return { pack: slug }
  const [, name = '', version] = /^([a-z0-9/-]+)(?:@(latest|\d+\.\d+\.\d+))?$/.exec(word) ?? []
  if (isFullName(name) || isSkillName(name)) return { name, version: version === 'latest' ? undefined : version }
  throw new UsageError(`'${word}' is none of owner/name, name, owner/name@1.2.3 and pack:SLUG.`)
}

/** The items that the words stand for, as the registry has them now. */
export async function askForItems(
  session: Session,
  api: RegistryApi,
  words: readonly Word[],
  source: string,
): Promise<Item[]> {
  const items = new Map<string, Item>()
  for (const word of words) {
    const asked = 'pack' in word ? await getPackMembers(api, word.pack, session.output.say) : [word]
    for (const one of asked) {
      const item = await askForItem(session, api, one, source)
      const other = items.get(item.fullName)
      if (other && other.version !== item.version)
        throw new UsageError(`${item.fullName} was asked for at ${other.version} and at ${item.version}: say one.`)
      items.set(item.fullName, item)
    }
  }
  return [...items.values()]
}

/** Where the registry is away, what the lock says will do: it is what was agreed on. */
async function askForItem(session: Session, api: RegistryApi, asked: Asked, source: string): Promise<Item> {
  try {
    return await toItem(session, api, asked, source)
  } catch (error) {
    const locked = isAway(error) ? findLockedItem(session, asked) : undefined
    if (!locked) throw error
    session.output.say(
      `${(error as Error).message} ${locked.fullName}@${locked.version} is taken as skills.lock has it.`,
    )
    return locked
  }
}

/** The items of words by the lock alone. */
export function toLockedItems(session: Session, words: readonly Word[]): Item[] {
  return words.map((word) => {
    if ('pack' in word)
      throw new UsageError(`What is in the pack ${word.pack} only a registry knows, and --offline asks none.`)
    const locked = findLockedItem(session, word)
    if (locked) return locked
    const { name, version } = word
    throw new Error(`${version ? `${name}@${version}` : name} is not in skills.lock, and --offline asks no registry.`)
  })
}

const awayCodes: ReadonlySet<ErrorCode> = new Set([
  'upstream_failed',
  'upstream_timeout',
  'offline',
  'shutting_down',
  'overloaded',
])

/** Whether the registry is the reason, and not what was asked. */
function isAway(error: unknown): boolean {
  return error instanceof RegistryError && awayCodes.has(error.code)
}

function findLockedItem(session: Session, { name, version }: Asked): Item | undefined {
  try {
    const [fullName, locked] = getLocked(session, name)
    return version === undefined || version === locked.version ? toLockedItem(session, fullName, locked) : undefined
  } catch {
    return undefined
  }
}

/** The item that the lock has, in the folders that it has and those that were asked for. */
export function toLockedItem(session: Session, fullName: string, locked: LockedSkill): Item {
  return { fullName, ...locked, targets: toTargets(session, fullName, locked), warnings: [] }
}

async function toItem(session: Session, api: RegistryApi, asked: Asked, source: string): Promise<Item> {
  const { fullName, ...offer } = await getOffer(api, asked, session.output.say)
  const { skills } = session.lock
  const formerName = asked.name !== fullName && Object.hasOwn(skills, asked.name) ? asked.name : undefined
  const lockedName = formerName ?? fullName
  const locked = Object.hasOwn(skills, lockedName) ? skills[lockedName] : undefined
  // Two registries may each have an alice.
  const isMoved = locked !== undefined && locked.source !== source && locked.source !== localSource
  const moved = isMoved ? [`${fullName} came from ${locked.source} before, and comes from ${source} now.`] : []
  const warnings = [...moved, ...offer.warnings]
  return { ...offer, warnings, fullName, formerName, source, targets: toTargets(session, fullName, locked) }
}

function toTargets({ folders, place }: Session, fullName: string, locked: LockedSkill | undefined): string[] {
  const asked = folders.length > 0 || locked ? folders : toUsualFolders(place)
  const targets = [...(locked?.targets ?? []), ...asked.map((folder) => toSkillTarget(folder, fullName))]
  return targets.filter((target, i) => targets.findIndex((one) => toFolded(one) === toFolded(target)) === i)
}

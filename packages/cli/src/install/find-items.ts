import { RegistryError, isSkillName, type ErrorCode, type RegistryApi, attempt } from '@skillstead/protocol'
import { UsageError } from '../command/command.ts'
import { toSkillTarget, toUsualFolders } from './install-place.ts'
import { findLocked, isFullName, localSource, toFolded, type LockedSkill } from './lock.ts'
import { requestOffer, getPackMembers, type Asked } from './offer.ts'
import type { Item } from './plan-folders.ts'
import { toRecallText } from './recall-text.ts'
import { refuseRecalledInstall } from './recalls.ts'
import { getLocked, type Session } from './session.ts'

/** An argument of `install`: a skill with an optional version, or a pack. */
export type Word = Asked | { readonly pack: string }

/** Parses an argument of `install`. Throws {@link UsageError} for an invalid name. */
export function parseWord(word: string): Word {
  const slug = /^pack:(.*)$/.exec(word)?.[1]
  if (slug !== undefined && isSkillName(slug)) return { pack: slug }
  const [, name = '', version] = /^([a-z0-9/-]+)(?:@(latest|\d+\.\d+\.\d+))?$/.exec(word) ?? []
  if (isFullName(name) || isSkillName(name)) {
    return { name, version: version === 'latest' ? undefined : version, isNamed: true }
  }
  throw new UsageError(`'${word}' is not a skill or pack. Use owner/name, name, owner/name@1.2.3 or pack:SLUG.`)
}

/** Asks the registry for the current versions of the arguments. */
export async function askForItems(
  session: Session,
  api: RegistryApi,
  words: readonly Word[],
  source: string,
): Promise<Item[]> {
  const items = new Map<string, Item>()
  for (const word of words) {
    const asked = 'pack' in word ? await listMembers(session, api, word.pack, words) : [word]
    for (const one of asked) {
      const item = await askForItem(session, api, one, source)
      const other = items.get(item.fullName)
      if (other && other.version !== item.version)
        throw new UsageError(
          `${item.fullName} was requested both at ${other.version} and at ${item.version}. Name only one version.`,
        )
      items.set(item.fullName, item)
    }
  }
  return [...items.values()]
}

/** The skills of a pack. A skill that the command also names counts as named. */
async function listMembers(session: Session, api: RegistryApi, slug: string, words: readonly Word[]) {
  const members = await getPackMembers(api, slug, session.output.say)
  const named = words.filter((word) => 'name' in word)
  return members.map((one) => named.find(({ name, version }) => name === one.name && version === one.version) ?? one)
}

/** The item of an argument. If the registry is unavailable, the locked version is used. */
async function askForItem(session: Session, api: RegistryApi, asked: Asked, source: string): Promise<Item> {
  try {
    return await toItem(session, api, asked, source)
  } catch (error) {
    if (!isRegistryUnavailable(error)) throw error
    const locked = findLockedItem(session, asked)
    if (!locked) throw error
    session.output.say(`${error.message} ${locked.fullName}@${locked.version} is installed as in skills.lock.`)
    return locked
  }
}

/** Resolves the arguments from the lock alone. */
export function toLockedItems(session: Session, words: readonly Word[]): Item[] {
  return words.map((word) => {
    if ('pack' in word) throw new UsageError(`Packs need a registry: ${word.pack} cannot be installed with --offline.`)
    const locked = findLockedItem(session, word)
    if (locked) return locked
    const { name, version } = word
    throw new Error(
      `${version ? `${name}@${version}` : name} is not in skills.lock. Run the command without --offline.`,
    )
  })
}

const awayCodes: ReadonlySet<ErrorCode> = new Set([
  'upstream_failed',
  'upstream_timeout',
  'offline',
  'shutting_down',
  'overloaded',
])

/** Whether an error means that the registry is unavailable, and not that the request was wrong. */
function isRegistryUnavailable(error: unknown): error is RegistryError {
  return error instanceof RegistryError && awayCodes.has(error.code)
}

function findLockedItem(session: Session, asked: Asked): Item | undefined {
  const found = attempt(() => getLocked(session, asked.name))
  const isAsked = asked.version === undefined || asked.version === found?.[1].version
  return found && isAsked ? toLockedItem(session, ...found, asked) : undefined
}

/** The locked item with its locked and requested folders. Throws for a known recall that the command refuses. */
export function toLockedItem(session: Session, fullName: string, locked: LockedSkill, asked?: Asked): Item {
  const item = { fullName, ...locked, targets: toTargets(session, fullName, locked) }
  const recalled = session.recalls.find(item)
  refuseRecalledInstall(session.given, item, recalled, asked)
  const warnings = recalled ? [`${fullName}@${locked.version} is ${toRecallText(recalled)}`] : []
  return { ...item, recalled, warnings }
}

async function toItem(session: Session, api: RegistryApi, asked: Asked, source: string): Promise<Item> {
  const { fullName, ...offer } = await requestOffer(api, asked, session.output.say)
  const { skills } = session.lock
  const formerName = asked.name !== fullName && Object.hasOwn(skills, asked.name) ? asked.name : undefined
  const lockedName = formerName ?? fullName
  const locked = findLocked(session.lock, lockedName)
  // Two registries may have different users of the same name.
  const isMoved = locked !== undefined && locked.source !== source && locked.source !== localSource
  const moved = isMoved ? [`${fullName} was installed from ${locked.source} before, and now comes from ${source}.`] : []
  const warnings = [...moved, ...offer.warnings]
  refuseRecalledInstall(session.given, { fullName, version: offer.version }, offer.recalled, asked)
  session.recalls.note([{ source, fullName, ...offer }])
  return { ...offer, warnings, fullName, formerName, source, targets: toTargets(session, fullName, locked) }
}

function toTargets({ folders, place }: Session, fullName: string, locked: LockedSkill | undefined): string[] {
  const asked = folders.length > 0 || locked ? folders : toUsualFolders(place)
  const targets = [...(locked?.targets ?? []), ...asked.map((folder) => toSkillTarget(folder, fullName))]
  return targets.filter((target, i) => targets.findIndex((one) => toFolded(one) === toFolded(target)) === i)
}

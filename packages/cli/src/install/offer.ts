import {
  isVersion,
  limits,
  type Recalled,
  type RegistryApi,
  type Requires,
  type SkillDetails,
  toOneLine,
  toShortName,
  isRegistryError,
} from '@skillstead/protocol'
import { endWithRecall, findNewestRecall, readRecalled, toRecallText } from './recall-text.ts'
import { isDigest, isFullName } from './lock.ts'

/** Reports to the user why a command waits. */
export type Say = (line: string) => void

/** A skill that a command was asked to install. */
export interface Asked {
  /** A full or a short name. */
  readonly name: string
  readonly version?: string | undefined
  /** Whether the command names the skill, in contrast to a member of a pack or a requirement. */
  readonly isNamed?: boolean
}

/** The version that a registry offers for an install. Its fields were validated, because a node may send anything. */
export interface Offer {
  readonly fullName: string
  readonly version: string
  readonly digest: string
  readonly license: string
  readonly keywords: readonly string[]
  /** What the version requires; undefined if the node is too old to report it. */
  readonly needs: Requires | undefined
  /** Whether the scanner rates the version dangerous. */
  readonly isDangerous: boolean
  /** The recall of the version; the caller must then refuse the version. */
  readonly recalled: Recalled | undefined
  /** Warnings for the user who installs the version. */
  readonly warnings: readonly string[]
}

/**
 * The version that a registry offers for a name. Throws if the registry offers no version, and if the response is about
 * another skill.
 */
export async function requestOffer(api: RegistryApi, { name, version }: Asked, say: Say): Promise<Offer> {
  const skill = await waitForTurn(() => api.getSkill({ name, version }), say)
  requireShape(isListOf(skill?.versions, isObject))
  const asked = version === undefined ? name : `${name}@${version}`
  const fullName = String(skill.fullName)
  if (!isFullName(fullName) || toShortName(fullName) !== toShortName(name))
    throw new Error(
      `The registry returned ${toOneLine(fullName)}, but ${asked} was requested. Nothing was changed. ` +
        'Check the URL and any proxy, or report this to the operator of the registry.',
    )
  if (skill.stub)
    throw new Error(`${fullName} has not been published, only requested or reserved, so it cannot be installed.`)
  const offered = version ?? skill.latestVersion
  if (!isVersion(String(offered)) || !isDigest(skill.digest))
    throw new Error(`${fullName} has no version to install; ${toWithdrawnText(skill)}`)
  return {
    fullName,
    version: offered,
    digest: readOfferedDigest(skill, offered),
    license: isText(skill.license) ? skill.license : '',
    keywords: isListOf(skill.keywords, isText) ? skill.keywords : [],
    needs: isRequires(skill.requires) ? skill.requires : undefined,
    isDangerous: skill.security?.verdict === 'dangerous',
    recalled: readRecalled(skill.recalled),
    warnings: listWarnings(skill, offered, name),
  }
}

/** Why a skill has no latest version, with the newest recall. */
function toWithdrawnText({ versions }: SkillDetails): string {
  const newest = findNewestRecall(versions)
  if (!newest) return 'all of its versions may be yanked or recalled.'
  return `all of its versions are yanked or recalled. ${toOneLine(newest.version)} was ${endWithRecall(newest.recalled)}`
}

/** Reads the digest, which the response has twice. Throws for a registry that contradicts itself. */
function readOfferedDigest(skill: SkillDetails, version: string): string {
  const listed = skill.versions.find((one) => one.version === version)
  if (listed && listed.digest !== skill.digest)
    throw new Error(
      `The registry returned two different digests for ${skill.fullName}@${version}. Nothing was changed. ` +
        'Report this to the operator of the registry.',
    )
  return skill.digest!
}

function listWarnings(skill: SkillDetails, version: string, asked: string): string[] {
  const recalled = readRecalled(skill.recalled)
  const { fullName } = skill
  const isYanked = skill.versions.some((one) => one.version === version && one.yanked)
  return [
    ...(asked.includes('/') && asked !== fullName ? [`${asked} has a new owner and is now ${fullName}.`] : []),
    ...(recalled ? [`${fullName}@${version} is ${toRecallText(recalled)}`] : []),
    ...(isYanked ? [`${fullName}@${version} was yanked by its owner.`] : []),
    ...(skill.deprecated ? [toOneLine(`${fullName} is deprecated. ${skill.deprecationMessage}`)] : []),
    ...(skill.security?.verdict === 'dangerous'
      ? [`The scanner rates ${fullName} as dangerous. Read it before an agent does: skillstead show ${fullName}`]
      : []),
  ]
}

/** Throws for a response without the expected fields, which comes from a program such as a proxy, not a registry. */
export function requireShape(isRight: boolean): void {
  if (!isRight)
    throw new Error('The response does not come from a supported registry. Check the URL. Nothing was changed.')
}

/** Whether a value is an array whose items all have the right form. */
export function isListOf(list: unknown, isRight: (one: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isRight)
}

/** Whether a value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isRequires(requires: unknown): boolean {
  if (!isObject(requires)) return false
  const { skills, commands, mcpServers, env } = requires
  const texts = [commands, mcpServers, env]
  return (
    isListOf(skills, isObject) &&
    texts.every((list) => Array.isArray(list) && list.length <= limits.requirementsMax && list.every(isText))
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** The skills of a pack. */
export async function getPackMembers(api: RegistryApi, slug: string, say: Say): Promise<Asked[]> {
  const pack = await waitForTurn(() => api.getPack({ slug }), say)
  requireShape(isListOf(pack?.skills, (member) => isObject(member) && typeof member.fullName === 'string'))
  const { skills } = pack
  if (skills.length === 0) throw new Error(`The pack ${slug} contains no skills.`)
  return skills.map(({ fullName, pinnedVersion }) => ({ name: fullName, version: pinnedVersion ?? undefined }))
}

const waitSecondsMax = 90
const turnsMax = 20

/**
 * Retries after the rate limit of a node resets: installing a large pack takes more requests than a guest has per
 * minute.
 */
export async function waitForTurn<T>(work: () => Promise<T>, say: Say): Promise<T> {
  for (let turn = 1; ; turn += 1) {
    try {
      return await work()
    } catch (error) {
      const seconds = isRegistryError(error, 'rate_limited') ? error.retryAfterSeconds : undefined
      if (seconds === undefined || seconds > waitSecondsMax || turn === turnsMax) throw error
      say(`Rate limit of the registry reached; waiting ${seconds} seconds.`)
      await new Promise((resolve) => void setTimeout(resolve, Math.max(1, seconds) * 1000))
    }
  }
}

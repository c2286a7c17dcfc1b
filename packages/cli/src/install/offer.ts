import { RegistryError, isVersion, type RegistryApi, type SkillDetails } from '@skillstead/protocol'
import { toOneLine } from '../output.ts'
import { isDigest, isFullName, toShortName } from './lock.ts'

/** Tells whoever waits why it takes a while. */
export type Say = (line: string) => void

/** What a command was asked to install. */
export interface Asked {
  /** A full or a short name. */
  readonly name: string
  readonly version?: string | undefined
}

/** A version that a registry has, as far as an install needs it; checked, for a node may say anything. */
export interface Offer {
  readonly fullName: string
  readonly version: string
  readonly digest: string
  /** Whether the scanner calls it dangerous. */
  readonly isDangerous: boolean
  /** What whoever installs it should know. */
  readonly warnings: readonly string[]
}

/** The version that a registry gives for a name. Throws where it has none, and for an answer that is about another one. */
export async function getOffer(api: RegistryApi, { name, version }: Asked, say: Say): Promise<Offer> {
  const skill = await waitForTurn(() => api.getSkill({ name, version }), say)
  requireShape(isListOf(skill?.versions, isObject))
  const asked = version === undefined ? name : `${name}@${version}`
  const fullName = String(skill.fullName)
  if (!isFullName(fullName) || toShortName(fullName) !== name.slice(name.indexOf('/') + 1))
    throw toOther(asked, fullName)
  if (skill.stub)
    throw new Error(`${fullName} is known by name only: nobody has published it, so there is nothing to install.`)
  const offered = version ?? skill.latestVersion
  if (!isVersion(String(offered)) || !isDigest(skill.digest))
    throw new Error(`${fullName} has no version to install; all of them may be withdrawn.`)
  return {
    fullName,
    version: offered,
    digest: readDigest(skill, offered),
    isDangerous: skill.security?.verdict === 'dangerous',
    warnings: listWarnings(skill, offered, name),
  }
}

/** The answer names the digest twice; a registry that contradicts itself is believed in nothing. */
function readDigest(skill: SkillDetails, version: string): string {
  const listed = skill.versions.find((one) => one.version === version)
  if (listed && listed.digest !== skill.digest)
    throw new Error(`The registry gives two digests for ${skill.fullName}@${version}. Nothing was changed.`)
  return skill.digest!
}

function listWarnings(skill: SkillDetails, version: string, asked: string): string[] {
  const { fullName } = skill
  const isYanked = skill.versions.some((one) => one.version === version && one.yanked)
  return [
    ...(asked.includes('/') && asked !== fullName ? [`${asked} has another owner now: it is ${fullName}.`] : []),
    ...(isYanked ? [`${fullName}@${version} was withdrawn by its owner.`] : []),
    ...(skill.deprecated ? [toOneLine(`${fullName} is deprecated. ${skill.deprecationMessage}`)] : []),
    ...(skill.security?.verdict === 'dangerous'
      ? [`The scan calls ${fullName} dangerous: look at it before an agent does (skillstead show ${fullName}).`]
      : []),
  ]
}

function toOther(asked: string, fullName: string): Error {
  return new Error(
    `The registry answered with ${toOneLine(fullName)}, and ${asked} was asked for. Nothing was changed.`,
  )
}

/** An answer that is not of the form that registries give is of something else, such as a proxy. */
export function requireShape(isRight: boolean): void {
  if (!isRight)
    throw new Error('What answered is no registry, or one that this program does not know. Nothing was changed.')
}

/** Whether something is a list, and all in it are of a form. */
export function isListOf(list: unknown, isRight: (one: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isRight)
}

/** Whether something has fields. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** What a pack holds. */
export async function getPackMembers(api: RegistryApi, slug: string, say: Say): Promise<Asked[]> {
  const pack = await waitForTurn(() => api.getPack({ slug }), say)
  requireShape(isListOf(pack?.skills, (member) => isObject(member) && typeof member.fullName === 'string'))
  const { skills } = pack
  if (skills.length === 0) throw new Error(`The pack ${slug} holds no skills.`)
  return skills.map(({ fullName, pinnedVersion }) => ({ name: fullName, version: pinnedVersion ?? undefined }))
}

const waitSecondsMax = 90
const turnsMax = 20

/** Does it again when a node that counts requests has room for more: a large pack is more than a guest's minute. */
export async function waitForTurn<T>(work: () => Promise<T>, say: Say): Promise<T> {
  for (let turn = 1; ; turn += 1) {
    try {
      return await work()
    } catch (error) {
      const seconds =
        error instanceof RegistryError && error.code === 'rate_limited' ? error.retryAfterSeconds : undefined
      if (seconds === undefined || seconds > waitSecondsMax || turn === turnsMax) throw error
      say(`The registry takes no more requests for ${seconds} seconds; waiting.`)
      await new Promise((resolve) => void setTimeout(resolve, Math.max(1, seconds) * 1000))
    }
  }
}

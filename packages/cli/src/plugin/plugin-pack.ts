import {
  isRegistryError,
  limits,
  toOneLine,
  toVisibleText,
  type Pack,
  type RegistryApi,
  type RegistryError,
  type Visibility,
  orUndefined,
} from '@skillstead/protocol'
import { cutAtWord, toSlug } from '@skillstead/skill-format'
import type { PluginManifest } from '@skillstead/skill-format/archives'

/** What became of a skill of a plugin. */
export interface PluginSkill {
  /** The path of its SKILL.md. */
  readonly path: string
  readonly status: 'published' | 'unchanged' | 'quarantined' | 'refused'
  /** Absent where the skill was refused. */
  readonly fullName?: string
  readonly version?: string
  /** Why the skill was refused. */
  readonly reason?: string
}

/** What became of the pack of a plugin. */
export interface PluginPack {
  readonly slug: string
  readonly status: 'created' | 'updated' | 'unchanged' | 'refused'
  /** Why the pack was not created or updated. */
  readonly reason?: string
  readonly warnings?: Awaited<ReturnType<RegistryApi['createPack']>>['warnings']
}

interface PackOptions {
  readonly visibility?: Visibility | undefined
  /** The visibility of a new pack, if `visibility` is not given. Default: public. */
  readonly newVisibility?: Visibility | undefined
  /** Whether the outcome is only determined, and nothing is stored. */
  readonly dryRun?: boolean
}

const descriptionCharactersMax = 2000

/**
 * Makes the pack of a plugin, or updates the pack with its slug that the owner of the skills has. Its members are the
 * published skills, and for each refused skill the earlier member. Notes, pins, the order and the display name stay.
 */
export async function putPluginPack(
  api: RegistryApi,
  plugin: Pick<PluginManifest, 'name' | 'description'>,
  skills: readonly PluginSkill[],
  { visibility, newVisibility, dryRun = false }: PackOptions = {},
): Promise<PluginPack> {
  const slug = toSlug(plugin.name)
  const [owner] = skills.find(isPublished)?.fullName?.split('/') ?? []
  if (owner === undefined)
    return { slug, status: 'refused', reason: 'No skill of the plugin is published, and a pack has skills.' }
  try {
    const before = await orUndefined(api.getPack({ slug }), 'not_found')
    const reason = before && findConflict(before, { owner, name: plugin.name })
    if (reason !== undefined) return { slug, status: 'refused', reason }
    const description = cutAtWord(toVisibleText(plugin.description), descriptionCharactersMax)
    const wanted = { description, visibility, skills: toMembers(skills, before) }
    const count = wanted.skills.length
    if (count > limits.packSkillsMax)
      return { slug, status: 'refused', reason: `A pack has at most ${limits.packSkillsMax} skills, not ${count}.` }
    if (!before) {
      const input = { ...wanted, slug, owner, name: plugin.name, visibility: visibility ?? newVisibility }
      const made = dryRun ? undefined : await api.createPack(input)
      return { slug, status: 'created', ...(made?.warnings && { warnings: made.warnings }) }
    }
    if (isSamePack(before, wanted)) return { slug, status: 'unchanged' }
    const made = dryRun ? undefined : await api.updatePack({ slug, ...wanted })
    return { slug, status: 'updated', ...(made?.warnings && { warnings: made.warnings }) }
  } catch (error) {
    if (!isOwnRefusal(error)) throw error
    return { slug, status: 'refused', reason: toOneLine(error.message) }
  }
}

/** Whether an error is about what was sent, and not about the connection, the login or a rate limit. */
export function isOwnRefusal(error: unknown): error is RegistryError {
  return isRegistryError(error) && error.status < 500 && !['unauthorized', 'rate_limited'].includes(error.code)
}

/** Why a pack with the slug of a plugin is not the plugin's pack. */
function findConflict({ slug, name, curator }: Pack, plugin: { owner: string; name: string }): string | undefined {
  const advice = 'Give the plugin another name in plugin.json.'
  if (curator.username !== plugin.owner) return `There is a pack '${slug}' of ${curator.username} already. ${advice}`
  // Plugins may have periods in their names, for which slugs have hyphens.
  const areApart = name !== plugin.name && (name.includes('.') || plugin.name.includes('.'))
  return areApart ? `The pack '${slug}' is that of '${name}', not of '${plugin.name}'. ${advice}` : undefined
}

interface Member {
  readonly name: string
  readonly version?: string
  readonly note: string
}

function toMembers(skills: readonly PluginSkill[], before: Pack | undefined): Member[] {
  const former = new Map((before?.skills ?? []).map((skill) => [skill.fullName, toMember(skill)]))
  const members = new Map<string, Member>()
  for (const skill of skills) {
    const name = skill.fullName ?? findFormer(former, skill.path)
    if (name === undefined) continue
    const member = former.get(name) ?? (isPublished(skill) ? { name, note: '' } : undefined)
    if (member) members.set(name, member)
  }
  const names = new Set([...former.keys(), ...members.keys()])
  return [...names].flatMap((name) => members.get(name) ?? [])
}

function isPublished({ status }: PluginSkill): boolean {
  return status === 'published' || status === 'unchanged'
}

/** The earlier member for a refused skill: the member with the name of the skill's folder. */
function findFormer(former: ReadonlyMap<string, Member>, path: string): string | undefined {
  const folder = path.split('/').at(-2)
  return [...former.keys()].find((fullName) => fullName.split('/')[1] === folder)
}

function toMember({ fullName, pinnedVersion, note }: Pack['skills'][number]): Member {
  return { name: fullName, ...(pinnedVersion !== null && { version: pinnedVersion }), note }
}

function isSamePack(
  before: Pack,
  wanted: { description: string; visibility?: Visibility | undefined; skills: readonly Member[] },
): boolean {
  return (
    before.description === wanted.description &&
    before.visibility === (wanted.visibility ?? before.visibility) &&
    JSON.stringify(before.skills.map(toMember)) === JSON.stringify(wanted.skills)
  )
}

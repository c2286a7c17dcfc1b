import type { ChangeFollower } from '../../log/change-follower.ts'
import type { SkillRow } from '../../storage/tables.ts'

/** The name of a mirrored skill at its upstream. */
interface MirroredName {
  readonly upstream: string
  readonly fullName: string
}

/** Installs of one mirrored skill. */
export interface MirroredInstalls extends MirroredName {
  readonly skillId: string
  readonly count: number
}

/** A used skill, with its owner at the time of the look-up. */
export interface UsedSkill {
  readonly id: string
  readonly ownerId: string
  /** The name of the skill at an upstream registry, if the skill is mirrored. */
  readonly mirrored?: MirroredName | undefined
}

/** The name of a public skill at the upstream that it is mirrored from; undefined for other skills. */
export function toMirrored(skill: SkillRow): MirroredName | undefined {
  const { origin_kind: kind, origin_upstream: upstream, full_name: fullName, visibility } = skill
  return kind === 'mirror' && upstream !== null && visibility === 'public' ? { upstream, fullName } : undefined
}

/** Adds installs of a mirrored skill to the installs that are reported to its upstream. */
export function addMirrored(
  installs: Map<string, MirroredInstalls>,
  skillId: string,
  { upstream, fullName }: MirroredName,
  count: number,
): void {
  installs.set(skillId, { upstream, fullName, skillId, count: (installs.get(skillId)?.count ?? 0) + count })
}

/** Uses per skill, by keys of {@link toUseKey}. */
export type UseCounts = ReadonlyMap<string, number>

/** The name under which uses by unknown clients are counted. */
const unknownClient = 'unknown'
const clientCharactersMax = 64

/** The key under which uses of a skill are counted: the skill, and the client if given. */
export function toUseKey(skillId: string, client?: string): string {
  return client === undefined ? skillId : `${skillId} ${client}`
}

export function parseUseKey(key: string): { skillId: string; client: string } {
  const space = key.indexOf(' ')
  return space === -1
    ? { skillId: key, client: unknownClient }
    : { skillId: key.slice(0, space), client: key.slice(space + 1) }
}

/** Uses per skill id, summed over all clients. */
export function sumUsesBySkill(uses: UseCounts): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [key, count] of uses) {
    const { skillId } = parseUseKey(key)
    sums.set(skillId, (sums.get(skillId) ?? 0) + count)
  }
  return sums
}

/** The client's name as shown to owners: shortened, without unprintable characters. */
export function toClientName(named = unknownClient): string {
  return named.slice(0, clientCharactersMax).toWellFormed().replace(unshownPattern, '').trim() || unknownClient
}

const unshownPattern = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A cache from names to public skills, for frequent look-ups. Emptied when any skill changes. */
export interface PublicNames {
  /**
   * The skill that an anonymous caller gets by a name. On a miss, calls `find`, which throws if there is no such skill.
   */
  get(name: string, find: () => Promise<UsedSkill>): Promise<UsedSkill>
}

const publicNamesMax = 20_000

export function createPublicNames(changes: ChangeFollower): PublicNames {
  const skills = new Map<string, UsedSkill>()
  const forget = () => skills.clear()
  changes.follow((batch) => {
    if (batch.some(({ kind }) => kind === 'skill')) forget()
  }, forget)
  return {
    async get(name, find) {
      const cached = skills.get(name)
      if (cached !== undefined) return cached
      const position = changes.position
      const skill = await find()
      if (skills.size >= publicNamesMax) skills.clear()
      // Not cached if any skill changed during the look-up: the change may concern this name.
      if (position === changes.position) skills.set(name, skill)
      return skill
    },
  }
}

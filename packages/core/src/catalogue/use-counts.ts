/** The name of a mirrored skill at the upstream that it came from. */
interface MirroredName {
  readonly upstream: string
  readonly fullName: string
}

/** Installs of one mirrored skill. */
export interface MirroredInstalls extends MirroredName {
  readonly skillId: string
  readonly count: number
}

/** A skill that somebody uses, and whose it was when it was looked up. */
export interface UsedSkill {
  readonly id: string
  readonly ownerId: string
  /** Where it came from, where that was a registry that is followed. */
  readonly mirrored?: MirroredName | undefined
}

/** How often skills were used, by keys of {@link toUseKey}. */
export type UseCounts = ReadonlyMap<string, number>

/** The client of uses of which no more is known than how many there were. */
const unknownClient = 'unknown'
const clientCharactersMax = 64

/** What uses are counted under: the skill, and the client that used it where it is given. */
export function toUseKey(skillId: string, client?: string): string {
  return client === undefined ? skillId : `${skillId} ${client}`
}

/** The skill of a key, and the client. */
export function parseUseKey(key: string): { skillId: string; client: string } {
  const space = key.indexOf(' ')
  return space === -1
    ? { skillId: key, client: unknownClient }
    : { skillId: key.slice(0, space), client: key.slice(space + 1) }
}

/** Uses of skills by their ids, whoever the clients were. */
export function sumSkills(uses: UseCounts): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [key, count] of uses) {
    const { skillId } = parseUseKey(key)
    sums.set(skillId, (sums.get(skillId) ?? 0) + count)
  }
  return sums
}

/** The name of a client as owners are told of it: short, and without what cannot be shown. */
export function toClientName(named = unknownClient): string {
  return named.slice(0, clientCharactersMax).toWellFormed().replace(unshownPattern, '').trim() || unknownClient
}

const unshownPattern = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

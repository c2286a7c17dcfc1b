import { limits, type Requires } from '@skillstead/protocol'
import { parseVersionRange } from '@skillstead/skill-format'
import type { Caller } from '../../kernel/caller.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { toMeantName } from '../versions/stored-requires.ts'
import { lookUpWanted } from './look-up.ts'

interface InstalledVersion {
  readonly place: number
  readonly owner: string
  readonly requires: Requires
}

/**
 * By place, the first skill that an installed version requires and of which no version in the range is offered. Skills
 * that the caller may not see are left out, and so are those beyond the number that a resolution may have.
 */
export async function findWithdrawn(context: StorageContext, installed: readonly InstalledVersion[], caller: Caller) {
  const found = new Map<number, { readonly fullName: string; readonly range: string }>()
  const required = installed.flatMap(({ place, owner, requires }) =>
    requires.skills.map(({ name, range }) => {
      return { place, name: toMeantName(name, owner), range: parseVersionRange(range) }
    }),
  )
  if (required.length === 0) return found
  const names = [...new Set(required.map(({ name }) => name))].slice(0, limits.resolveSkillsMax)
  const meant = await lookUpWanted(context, names, caller)
  for (const { place, name, range } of required) {
    const skill = meant.get(name)
    if (!skill || !range || found.has(place)) continue
    if (skill.versions.some(({ version, isOffered }) => isOffered && range.includes(version))) continue
    found.set(place, { fullName: skill.fullName, range: range.text })
  }
  return found
}

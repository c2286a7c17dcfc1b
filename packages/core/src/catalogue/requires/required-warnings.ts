import type { Requires, Warning } from '@skillstead/protocol'
import { parseVersionRange } from '@skillstead/skill-format'
import type { Caller } from '../../kernel/caller.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { toMeantName } from '../versions/stored-requires.ts'
import { lookUpWanted, toWantedKey } from './look-up.ts'

/**
 * Warns an author of required skills that do not exist, that have no version in the range, and whose name has no owner
 * and means a skill of another one. They may be published later, so that none is an error.
 */
export async function warnOfRequired(
  context: StorageContext,
  { skills }: Requires,
  owner: string,
  caller: Caller,
): Promise<Warning[]> {
  const wanted = skills.map((one) => ({ name: toMeantName(one, owner), owner }))
  const found = wanted.length > 0 ? await lookUpWanted(context, wanted, caller) : new Map<string, never>()
  return skills.flatMap(({ name, range, optional }, i): Warning[] => {
    const { skill } = found.get(toWantedKey(wanted[i]!)) ?? {}
    const isWithin = parseVersionRange(range)?.includes ?? (() => false)
    if (!skill) {
      if (optional) return []
      const message = `There is no skill '${name}' that you may see. Publish it, or write another name in requires.`
      return [{ code: 'required_missing', message }]
    }
    if (!skill.versions.some(({ version, isOffered }) => isOffered && isWithin(version)))
      return [
        { code: 'required_range', message: `${skill.fullName} has no version in the range ${range} that is offered.` },
      ]
    if (name.includes('/') || skill.owner === owner) return []
    const message = `'${name}' means ${skill.fullName}. Write that name in requires, so that it always does.`
    return [{ code: 'required_owner', message }]
  })
}

import type { Requires, Warning } from '@skillstead/protocol'
import { parseVersionRange } from '@skillstead/skill-format'
import type { Caller } from '../../kernel/caller.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { toMeantName } from '../versions/stored-requires.ts'
import { lookUpWanted } from './look-up.ts'

/**
 * Warns an author of required skills that do not exist, or that have no version in the range. They may be published
 * later, so that none is an error.
 */
export async function warnOfRequired(context: StorageContext, { skills }: Requires, owner: string, caller: Caller) {
  const names = new Set(skills.flatMap(({ name }) => [name, toMeantName(name, owner)]))
  const found = await lookUpWanted(context, [...names], caller)
  return skills.flatMap(({ name, range, optional }): Warning[] => {
    const meant = toMeantName(name, owner)
    const skill = found.get(meant)
    const isWithin = parseVersionRange(range)?.includes ?? (() => false)
    if (!skill) {
      if (optional) return []
      const message = `There is no skill '${meant}' that you may see. ${toAdvice(name, found.get(name)?.fullName)}`
      return [{ code: 'required_missing', message }]
    }
    if (skill.versions.some(({ version, isOffered }) => isOffered && isWithin(version))) return []
    return [
      { code: 'required_range', message: `${skill.fullName} has no version in the range ${range} that is offered.` },
    ]
  })
}

function toAdvice(name: string, other: string | undefined): string {
  if (name.includes('/')) return 'Publish it, or write another name in requires.'
  const example = other === undefined ? `owner/${name}` : other
  return `A name without an owner means a skill of the same owner. Publish it, or write ${example} in requires.`
}

import type { GroupRule } from '@skillstead/core/internal'
import { isSkillName, isUsername, memberRoles, toOneLine } from '@skillstead/protocol'

/**
 * Parses rules for the rights of groups of an identity provider: `GROUP=administrators`, `GROUP=ORGANISATION:ROLE` or
 * `GROUP=ORGANISATION/TEAM`. A group may have several rules. Throws a TypeError that names an invalid rule.
 *
 * @example
 * parseGroupRules(['skill-admins=administrators', 'engineering=acme:publisher', 'ml=acme/ml'])
 */
export function parseGroupRules(texts: readonly string[]): GroupRule[] {
  return texts.map((text) => {
    const at = text.lastIndexOf('=')
    const group = text.slice(0, Math.max(at, 0)).trim()
    const gives = toGift(text.slice(at + 1).trim())
    if (group !== '' && gives !== undefined) return { group, gives }
    throw new TypeError(
      `'${toOneLine(text)}' is not a rule for a group. Use GROUP=administrators, GROUP=ORGANISATION:ROLE with a role of ` +
        `${memberRoles.join(', ')}, or GROUP=ORGANISATION/TEAM.`,
    )
  })
}

function toGift(text: string): GroupRule['gives'] | undefined {
  if (text === 'administrators') return text
  const [, organisation = '', sign, rest = ''] = /^([^:/]*)([:/])(.*)$/s.exec(text) ?? []
  if (!isUsername(organisation)) return undefined
  if (sign === '/') return isSkillName(rest) ? { organisation, team: rest } : undefined
  const role = memberRoles.find((one) => one === rest)
  return role && { organisation, role }
}

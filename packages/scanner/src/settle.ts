import type { ScanFinding } from '@skillstead/protocol'
import type { Stance } from './polarity.ts'
import type { FileRole } from './role.ts'
import type { Rule } from './rule.ts'

type Weight = Pick<ScanFinding, 'signal' | 'severity'>

const severities = ['info', 'low', 'medium', 'high', 'critical'] as const
const lowerSignals = { hostile: 'suspicious', suspicious: 'none', power: 'none', none: 'none' } as const
/** Files that are not what an agent reads or runs, unless instructions say so. */
const asideRoles: ReadonlySet<FileRole> = new Set(['test', 'vendored', 'data'])

/** What is known of the place where a rule matched. */
export interface Place {
  readonly stance: Stance
  readonly role: FileRole
  /** A reader does not see it. */
  readonly isUnseen: boolean
  /** It was encoded as nobody writes who wants to be read. */
  readonly isEncoded: boolean
  /** It is shown as it is written, in a fence or between backticks. */
  readonly isCode: boolean
}

/** What a match of a rule weighs: role and polarity settle it, but text that nobody sees is not excused by what it says. */
export function settle(rule: Omit<Rule, 'patterns'>, { stance, role, isUnseen, isEncoded, isCode }: Place): Weight {
  const weight: Weight = { signal: rule.signal, severity: rule.severity }
  const isMeant = stance.polarity === 'imperative'
  // A comment that is shown as code hides nothing.
  const isShown = rule.category === 'hidden-instructions' && isCode && !isMeant
  if (rule.regardless && !isShown) return weight
  const isAside = asideRoles.has(role)
  if (isUnseen && !isAside) return raised(weight)
  if (!isMeant && stance.isCertain) return { signal: 'none', severity: 'info' }
  const settled = !isMeant && weight.signal === 'hostile' ? lowered(weight) : weight
  if (isAside) return lowered(settled)
  return isEncoded && isMeant ? raised(settled) : settled
}

function raised({ signal, severity }: Weight): Weight {
  if (signal !== 'suspicious') return { signal, severity }
  return { signal: 'hostile', severity: severities[Math.min(severities.indexOf(severity) + 1, severities.length - 1)]! }
}

function lowered({ signal, severity }: Weight): Weight {
  const lower = lowerSignals[signal]
  if (lower === 'none') return { signal: 'none', severity: 'info' }
  return { signal: lower, severity: severities[Math.max(severities.indexOf(severity) - 1, 1)]! }
}

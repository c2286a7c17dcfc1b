import type { ScanFinding } from '@skillstead/protocol'
import type { Stance } from './polarity.ts'
import type { FileRole } from '../files/role.ts'
import type { RuleHead } from '../rules/load-rules.ts'

type Weight = Pick<ScanFinding, 'signal' | 'severity'>

const severities = ['info', 'low', 'medium', 'high', 'critical'] as const
const lowerSignals = { hostile: 'suspicious', suspicious: 'none', power: 'none', none: 'none' } as const
/** Roles of files that an agent neither reads nor runs unless instructions mention them. */
const asideRoles: ReadonlySet<FileRole> = new Set(['test', 'vendored', 'data'])

/** Context of a rule's match. */
export interface Place {
  readonly stance: Stance
  readonly role: FileRole
  /** Whether the match is invisible to a reader of the rendered page. */
  readonly isUnseen: boolean
  /** Whether the match was encoded in a way that has no legitimate use. */
  readonly isEncoded: boolean
  /** Whether the match is displayed as code, in a fence or between backticks. */
  readonly isCode: boolean
  /** Whether the match has addresses, and all of them are those of the skill's own product. */
  readonly isOwn: boolean
}

/** The place of a finding about a whole file, or about several passages. */
export function placeIn(role: FileRole): Place {
  const stance: Stance = { polarity: 'imperative', basis: 'certain' }
  return { stance, role, isUnseen: false, isEncoded: false, isCode: false, isOwn: false }
}

/** Weighs a match of a rule by role and polarity. Hidden text is not excused by its polarity. */
export function weighMatch(rule: RuleHead, place: Place): Weight {
  const { stance, role, isUnseen, isEncoded, isCode } = place
  const weight: Weight = rule.foreign && isExcused(place) ? { signal: 'power', severity: 'low' } : rule
  const isMeant = stance.polarity === 'imperative'
  // A comment that is displayed as code hides nothing.
  const isShown = rule.category === 'hidden-instructions' && isCode && !isMeant
  if (rule.regardless && !isShown) return weight
  const isAside = asideRoles.has(role)
  if (isUnseen && !isAside) return raiseWeight(weight)
  if (!isMeant && stance.basis === 'certain') return { signal: 'none', severity: 'info' }
  const adjusted = !isMeant && isLowered(rule, stance, isEncoded, weight.signal) ? lowerWeight(weight) : weight
  if (isAside) return lowerWeight(adjusted)
  return isEncoded && isMeant ? raiseWeight(adjusted) : adjusted
}

/** Whether all addresses are the skill's own and a reader sees them: a hidden installer is treated like any other. */
export function isExcused({ isOwn, isUnseen, isEncoded }: Place): boolean {
  return isOwn && !isUnseen && !isEncoded
}

/**
 * Whether a stance lowers the weight of a match: always that of a hostile match; that of another match only by a label,
 * and not if the match is encoded or hides something.
 */
function isLowered(
  { category }: Pick<RuleHead, 'category'>,
  { basis }: Stance,
  isEncoded: boolean,
  signal: Weight['signal'],
): boolean {
  if (signal === 'hostile') return true
  if (isEncoded) return false
  return basis === 'label' && category !== 'concealment' && category !== 'obfuscation'
}

function raiseWeight({ signal, severity }: Weight): Weight {
  if (signal !== 'suspicious') return { signal, severity }
  return { signal: 'hostile', severity: severities[Math.min(severities.indexOf(severity) + 1, severities.length - 1)]! }
}

function lowerWeight({ signal, severity }: Weight): Weight {
  const lower = lowerSignals[signal]
  if (lower === 'none') return { signal: 'none', severity: 'info' }
  return { signal: lower, severity: severities[Math.max(severities.indexOf(severity) - 1, 1)]! }
}

import { RegistryError } from '@skillstead/protocol'
import type { DmcaStatus } from '../storage/tables.ts'

/** Who moves a case: an administrator, the skill's owner by a counter-notice, or an expired deadline. */
export type Mover = 'administrator' | 'owner' | 'time'

/** All allowed transitions of a case (CONTRACT, DMCA). Others are refused. */
const transitions: readonly { from: DmcaStatus; to: DmcaStatus; by: Mover }[] = [
  { from: 'submitted', to: 'under_review', by: 'administrator' },
  { from: 'submitted', to: 'rejected', by: 'administrator' },
  { from: 'submitted', to: 'removed', by: 'administrator' },
  { from: 'under_review', to: 'rejected', by: 'administrator' },
  { from: 'under_review', to: 'removed', by: 'administrator' },
  { from: 'removed', to: 'counter_noticed', by: 'owner' },
  // The administrator confirms the sender of a counter-notice that was sent without the owner's key.
  { from: 'removed', to: 'counter_noticed', by: 'administrator' },
  { from: 'counter_noticed', to: 'upheld', by: 'administrator' },
  { from: 'counter_noticed', to: 'restored', by: 'time' },
]

/** Throws `invalid_transition`, with the allowed transitions, for any other. */
export function requireTransition(from: DmcaStatus, to: DmcaStatus, by: Mover): void {
  const open = transitions.filter((row) => row.from === from && row.by === by).map((row) => row.to)
  if (open.includes(to)) return
  const ways = open.length === 0 ? 'Nothing more is decided there.' : `It may become: ${open.join(', ')}.`
  throw new RegistryError('invalid_transition', `This case is ${from} and cannot become ${to}. ${ways}`)
}

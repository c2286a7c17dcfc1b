import { RegistryError } from '@skillstead/protocol'
import type { DmcaStatus } from '../storage/rows-trust.ts'

/** Who moves a case: someone who decides it, the owner of the skill by a counter-notice, or time that runs out. */
export type Mover = 'administrator' | 'owner' | 'time'

/** Every way that a case can go (CONTRACT, DMCA). What is not here is refused. */
const transitions: readonly { from: DmcaStatus; to: DmcaStatus; by: Mover }[] = [
  { from: 'submitted', to: 'under_review', by: 'administrator' },
  { from: 'submitted', to: 'rejected', by: 'administrator' },
  { from: 'submitted', to: 'removed', by: 'administrator' },
  { from: 'under_review', to: 'rejected', by: 'administrator' },
  { from: 'under_review', to: 'removed', by: 'administrator' },
  { from: 'removed', to: 'counter_noticed', by: 'owner' },
  // Confirms who sent a counter-notice that came without the owner's key.
  { from: 'removed', to: 'counter_noticed', by: 'administrator' },
  { from: 'counter_noticed', to: 'upheld', by: 'administrator' },
  { from: 'counter_noticed', to: 'restored', by: 'time' },
]

/** Throws `invalid_transition` for a way that the table does not have, with those that it has. */
export function requireTransition(from: DmcaStatus, to: DmcaStatus, by: Mover): void {
  const open = transitions.filter((row) => row.from === from && row.by === by).map((row) => row.to)
  if (open.includes(to)) return
  const ways = open.length === 0 ? 'Nothing more is decided there.' : `It may become: ${open.join(', ')}.`
  throw new RegistryError('invalid_transition', `This case is ${from} and cannot become ${to}. ${ways}`)
}

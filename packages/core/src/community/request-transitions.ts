import { RegistryError } from '@skillstead/protocol'
import { callerId, type Caller } from '../kernel/caller.ts'
import { isAdministrator } from '../catalogue/visibility.ts'
import type { RequestRow } from '../storage/rows-community.ts'

type Status = RequestRow['status']

/** Who may move a request: any signed-in user, or its party, which is who asked, and administrators. */
type Mover = 'anyone' | 'party'

/** From which state to which, and by whom. What is not here there is not. */
const transitions: Readonly<Record<Status, Partial<Record<Status, Mover>>>> = {
  open: { in_progress: 'anyone', fulfilled: 'party', closed: 'party' },
  in_progress: { open: 'party', fulfilled: 'party', closed: 'party' },
  closed: { open: 'party' },
  fulfilled: {},
}

/** The states in which people may vote. */
export const votableStatuses: readonly Status[] = ['open', 'in_progress']

/** Throws `invalid_transition` where there is no such step, `forbidden` where it is somebody else's. */
export function requireTransition(request: RequestRow, to: Status, caller: Caller): void {
  const mover = transitions[request.status][to]
  if (!mover) {
    const reachable = Object.keys(transitions[request.status]).join(', ') || 'nothing else'
    throw new RegistryError('invalid_transition', `This request is ${request.status} and can become ${reachable}.`)
  }
  if (mover === 'party' && !isParty(request, caller))
    throw new RegistryError('forbidden', `Only who made this request, and administrators, may set it to ${to}.`)
}

function isParty(request: RequestRow, caller: Caller): boolean {
  if (isAdministrator(caller)) return true
  // A guest's request has no requester, and a guest is not that one.
  return request.requester_id !== null && request.requester_id === callerId(caller)
}

import { RegistryError } from '@skillstead/protocol'
import { callerId, type Caller } from '../kernel/caller.ts'
import { isAdministrator } from '../catalogue/visibility.ts'
import type { RequestRow } from '../storage/rows-community.ts'

type Status = RequestRow['status']

/** Who may change a request's status: any signed-in user, or only its author and administrators. */
type Mover = 'anyone' | 'party'

/** The allowed transitions and who may make them. All others are refused. */
const transitions: Readonly<Record<Status, Partial<Record<Status, Mover>>>> = {
  open: { in_progress: 'anyone', fulfilled: 'party', closed: 'party' },
  in_progress: { open: 'party', fulfilled: 'party', closed: 'party' },
  closed: { open: 'party' },
  fulfilled: {},
}

/** The statuses in which users may vote. */
export const votableStatuses: readonly Status[] = ['open', 'in_progress']

/** Throws `invalid_transition` if there is no such transition, `forbidden` if the caller may not make it. */
export function requireTransition(request: RequestRow, to: Status, caller: Caller): void {
  const mover = transitions[request.status][to]
  if (!mover) {
    const reachable = Object.keys(transitions[request.status]).join(', ') || 'nothing else'
    throw new RegistryError('invalid_transition', `This request is ${request.status} and can become ${reachable}.`)
  }
  if (mover === 'party' && !isParty(request, caller))
    throw new RegistryError('forbidden', `Only the author of this request and administrators may set it to ${to}.`)
}

function isParty(request: RequestRow, caller: Caller): boolean {
  if (isAdministrator(caller)) return true
  // A guest's request has no author, and a guest caller must not match that.
  return request.requester_id !== null && request.requester_id === callerId(caller)
}

import type { QuarantinedVersion } from '@skillstead/protocol'

/** How far the approval of a version is, in words. */
export function toApprovalWords({
  needed,
  given,
  changesRequested,
}: NonNullable<QuarantinedVersion['approvals']>): string {
  return `${given} of ${needed} ${needed === 1 ? 'approval' : 'approvals'}${changesRequested ? ', changes requested' : ''}`
}

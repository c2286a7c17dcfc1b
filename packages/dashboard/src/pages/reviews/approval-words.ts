import type { QuarantinedVersion } from '@skillstead/protocol'
import { toCount } from '../../ui/parts.tsx'

/** How far the approval of a version is, in words. */
export function toApprovalWords({
  needed,
  given,
  changesRequested,
}: NonNullable<QuarantinedVersion['approvals']>): string {
  return `${given} of ${toCount(needed, 'approval')}${changesRequested ? ', changes requested' : ''}`
}

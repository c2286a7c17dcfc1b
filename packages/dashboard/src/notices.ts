import { api, useData } from './api.ts'
import { mayDo, readOrganisations } from './organisations.ts'
import { useMe } from './session.ts'

/** The items that need the attention of the signed-in user. The header takes their number from the session. */
async function readNotices(username: string, hasWebhooks: boolean) {
  const all = { limit: 100 }
  const [{ invitations }, { invitations: memberships }, { transfers }, { quarantined }, { skills }, webhooks] =
    await Promise.all([
      api.listInvitations(all),
      api.listMemberInvitations(),
      api.listTransfers(all),
      api.listQuarantined({ ...all, own: true }),
      api.listOwnSkills({ ...all, moderated: true }),
      hasWebhooks ? api.listWebhooks(all) : undefined,
    ])
  const organisations = transfers.length === 0 ? [] : (await readOrganisations()).organisations
  const isReceived = ({ newOwner }: { newOwner: string }) =>
    newOwner === username || organisations.some(({ name, role }) => name === newOwner && mayDo(role, 'manage'))
  return {
    invitations,
    memberships,
    received: transfers.filter(isReceived),
    offered: transfers.filter((transfer) => !isReceived(transfer)),
    quarantined,
    moderated: skills,
    failing: (webhooks?.webhooks ?? []).filter(
      ({ active, lastDelivery }) => active && lastDelivery?.status === 'failed',
    ),
  }
}

export type Notices = Awaited<ReturnType<typeof readNotices>>

/** The notices of the signed-in user; no request is sent for a visitor. */
export function useNotices() {
  const me = useMe()
  return useData(['notices', me?.username], () => readNotices(me!.username, me!.plan !== 'free'), Boolean(me))
}

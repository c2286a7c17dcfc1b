import { api, useData } from './api.ts'
import { useMe } from './session.ts'

/** What waits for the signed-in user, read with few requests and shared by the header and the inbox. */
async function readNotices(username: string, hasWebhooks: boolean) {
  const all = { limit: 100 }
  const [{ invitations }, { transfers }, { quarantined }, { skills }, webhooks] = await Promise.all([
    api.listInvitations(all),
    api.listTransfers(all),
    api.listQuarantined(all),
    api.listOwnSkills(all),
    hasWebhooks ? api.listWebhooks(all) : undefined,
  ])
  return {
    invitations,
    received: transfers.filter(({ newOwner }) => newOwner === username),
    offered: transfers.filter(({ newOwner }) => newOwner !== username),
    // Administrators get the versions of all users.
    quarantined: quarantined.filter(({ publisher }) => publisher.username === username),
    moderated: skills.filter(({ state, flagged }) => flagged || state === 'hidden' || state === 'taken_down'),
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

/** The number of notices that the user can do something about. Offers that others have to answer are not among them. */
export function countNotices({ invitations, received, quarantined, moderated, failing }: Notices): number {
  return [invitations, received, quarantined, moderated, failing].reduce((sum, some) => sum + some.length, 0)
}

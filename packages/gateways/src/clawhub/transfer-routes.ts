import { toShortName, toOwnerName } from '@skillstead/protocol'
import { requireText } from '../body-fields.ts'
import { type Asked, nameIn, requireSignedIn, type RouteTable, toClawhubAnswer, type Work } from './route-table.ts'
import { toMs } from './shapes.ts'

/** Routes for offers to transfer a skill to another user. */
export const transferRoutes: RouteTable = {
  '/api/v1/skills/:slug/transfer': { POST: offerToUser },
  '/api/v1/skills/:slug/transfer/accept': { POST: acceptOffer },
  '/api/v1/skills/:slug/transfer/reject': { POST: endTransfer },
  '/api/v1/skills/:slug/transfer/cancel': { POST: endTransfer },
  '/api/v1/transfers/incoming': { GET: listTransfersOf('incoming') },
  '/api/v1/transfers/outgoing': { GET: listTransfersOf('outgoing') },
}

async function offerToUser(asked: Asked) {
  const fields = await asked.readFields()
  const newOwner = requireText(fields, 'toUserHandle').replace(/^@+/, '').toLowerCase()
  const { fullName } = await asked.api.transferSkill({ name: nameIn(asked, fields), newOwner })
  return toClawhubAnswer({
    ok: true,
    transferId: fullName,
    toUserHandle: newOwner,
    skillSlug: toShortName(fullName),
    transferred: false,
  })
}

async function acceptOffer(asked: Asked) {
  const { name } = await asked.api.acceptTransfer({ name: nameIn(asked) })
  return toClawhubAnswer({ ok: true, skillSlug: name })
}

/** Ends an offer. Cancellation by the owner and rejection by the receiver are the same operation here. */
async function endTransfer(asked: Asked) {
  const name = nameIn(asked)
  await asked.api.cancelTransfer({ name })
  return toClawhubAnswer({ ok: true, skillSlug: toShortName(name) })
}

/** The shown validity of an offer. Offers do not expire here, but `clawhub` requires a time of expiry. */
const shownMs = 365 * 86_400_000

function listTransfersOf(direction: 'incoming' | 'outgoing'): Work {
  return async function listTransfers({ api, call, host }) {
    const { username: me } = requireSignedIn(call)
    const { transfers } = await api.listTransfers()
    const wanted = transfers.filter(({ newOwner }) => (newOwner === me) === (direction === 'incoming'))
    const expiresAt = host.context.clock.now() + shownMs
    return toClawhubAnswer({
      transfers: wanted.map(({ fullName, newOwner, createdAt }) => ({
        _id: fullName,
        skill: { _id: fullName, slug: toShortName(fullName), displayName: toShortName(fullName) },
        fromUser: toParty(toOwnerName(fullName)),
        toUser: toParty(newOwner),
        requestedAt: toMs(createdAt),
        expiresAt,
      })),
    })
  }
}

function toParty(username: string) {
  return { _id: username, handle: username, displayName: null }
}

import type { WriteKind } from '../queue/upstream-write.ts'
import { findCurrentName } from './names.ts'
import { WriteConflict } from './problems.ts'
import { setPayload } from './rows.ts'
import { sendFork, sendPublish } from './send-content.ts'
import { findPathName } from './remote-version.ts'
import { openApi, type Note, type Sending, type SendingOf } from './sending.ts'

/**
 * Sends a write to its upstream. However often a write is sent, it takes effect once. Throws the RegistryError of the
 * response or the connection, and {@link WriteConflict} for a write that cannot succeed unchanged.
 */
export async function sendWrite(sending: Sending): Promise<Note> {
  const { write } = sending
  const send = senders[write.kind] as (sending: Sending) => Promise<Note | void>
  return (await send(sending)) ?? undefined
}

const senders: { readonly [K in WriteKind]: (sending: SendingOf<K>) => Promise<Note | void> } = {
  publish: sendPublish,
  fork: sendFork,
  track: sendInstalls,
  async review(sending) {
    const { rating, title, body } = sending.write.payload
    await openApi(sending).createReview({ name: await getName(sending), rating, title, body })
  },
  async 'agent-review'(sending) {
    const { agentKey, rating, content } = sending.write.payload
    await openApi(sending).createAgentReview({ name: await getName(sending), agentKey, rating, content })
  },
  async star(sending) {
    const [api, name] = [openApi(sending), await getName(sending)]
    await (sending.write.payload.starred ? api.starSkill({ name }) : api.unstarSkill({ name }))
  },
}

/** Sends installs one by one and stores the progress, so that an interrupted write continues where it stopped. */
async function sendInstalls(sending: SendingOf<'track'>): Promise<void> {
  const { write, context } = sending
  const skillName = await getName(sending)
  for (let sent = write.payload.sent ?? 0; sent < write.payload.count;) {
    await openApi(sending, `-${sent}`).track({ skillName, source: 'registry' })
    sent += 1
    const payload = { ...write.payload, sent }
    await context.database.writer.write((trx) => setPayload(trx, write.id, payload))
  }
}

async function getName(sending: Sending): Promise<string> {
  const { context, write } = sending
  const name = await findCurrentName(context.database.read, write.payload.skillId)
  if (name !== undefined) return findPathName(openApi(sending), sending, name)
  throw new WriteConflict('changed', `${write.subject} no longer exists on this node. Drop the write.`)
}

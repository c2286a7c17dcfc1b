import { setTimeout } from 'node:timers/promises'
import { RegistryError } from '@skillstead/protocol'
import type { Context } from '../context.ts'

/** A long poll looks at the change sequence; anything of this process or others that commits ends it. */
const lookMs = 50

/** GET /feed: the public log after `since`, in order. With `wait` it answers when there is something, or time is up. */
export async function readFeed(context: Context, input: { since: number; limit: number; wait: number }) {
  await waitForEntries(context, input.since, input.wait)
  const { head } = await readHead(context)
  const rows = await context.database.read
    .selectFrom('log')
    .select(['seq', 'entry'])
    .where('seq', '>', input.since)
    .where('seq', '<=', head)
    .orderBy('seq')
    .limit(input.limit)
    .execute()
  return {
    origin: context.origin,
    epoch: context.epoch,
    entries: rows.map(({ entry }) => JSON.parse(entry)),
    next: rows.at(-1)?.seq ?? input.since,
    head,
    checkpoint: null,
  }
}

async function waitForEntries(context: Context, since: number, waitSeconds: number): Promise<void> {
  const endMs = performance.now() + waitSeconds * 1000
  let seen = -1
  while (performance.now() < endMs && !context.waits.aborted) {
    if (seen !== context.changes.position) {
      seen = context.changes.position
      if ((await readHead(context)).head > since) return
    }
    await setTimeout(lookMs, undefined, { signal: context.waits }).catch(() => {})
  }
  // The database closes next, and there may be no more reading from it.
  if (context.closing.aborted) throw new RegistryError('shutting_down', 'The registry is closing; ask again later.')
}

async function readHead(context: Context): Promise<{ head: number }> {
  return context.database.read.selectFrom('heads').select('log_seq as head').executeTakeFirstOrThrow()
}

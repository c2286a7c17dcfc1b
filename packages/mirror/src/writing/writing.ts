import type { StorageContext } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import type { MirrorParts } from '../run.ts'
import type { MirrorAccounts, MirrorOutbox } from '../write-types.ts'
import type { Upstream } from '../types.ts'
import type { UpstreamFetch } from '../upstream-fetch.ts'
import { linkAccount, listAccounts, unlinkAccount } from './accounts.ts'
import { createDelivery } from './deliver.ts'
import { dropWrite, listWrites, renameWrite, retryWrite, type OutboxPlace } from './settle.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** The writing part of a mirror. */
export interface Writing {
  readonly outbox: MirrorOutbox
  readonly accounts: MirrorAccounts
  /** An upstream was reached: what waits for it goes now. */
  wake(upstream: string): void
  close(): Promise<void>
}

/** Takes the writes of a registry to its upstreams from now on; in offline mode they only gather. */
export function createWriting(parts: MirrorParts, signal: AbortSignal): Writing {
  const { context, mode, onError, readCredential } = parts
  const ways = new Map<string, UpstreamFetch>()
  const httpOf = (upstream: Upstream): UpstreamFetch => {
    const way = ways.get(upstream.name) ?? parts.openFetch(upstream, signal)
    ways.set(upstream.name, way)
    return way
  }
  const accountParts = { context, httpOf }
  const delivery = createDelivery({ ...accountParts, readCredential, onError })
  if (mode !== 'offline') behind(delivery.start())

  /** Errors of a registry that closes meanwhile are none. */
  function behind(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!signal.aborted) onError(error)
    })
  }

  const wake = (upstream: string): void => {
    if (mode !== 'offline') behind(delivery.wake(upstream))
  }

  /** Whatever waited for its next attempt begins at once. */
  async function goOn(settled: Promise<OutboxPlace>): Promise<void> {
    wake((await settled).upstream)
  }

  return {
    outbox: {
      list: (options) => listWrites(context, options),
      retry: (id) => goOn(retryWrite(context, id)),
      drop: (id) => goOn(dropWrite(context, id)),
      rename: (id, newName) => goOn(renameWrite(context, id, newName)),
      async deliver(upstream) {
        if (mode === 'offline')
          throw new RegistryError('offline', 'This node is in offline mode: what is written waits.')
        const before = await countWrites(context, upstream)
        await delivery.deliverAll(upstream)
        const after = await countWrites(context, upstream)
        const delivered = after.delivered - before.delivered
        return { delivered, waiting: after.pending, inConflict: after.conflict }
      },
    },
    accounts: {
      link: (user, upstream, key) => linkAccount(accountParts, { user, upstream, key }),
      unlink: (user, upstream) => unlinkAccount(context, user, upstream),
      list: () => listAccounts(context),
    },
    wake,
    async close() {
      await delivery.stop()
      await Promise.all(ways.values().map((way) => way.close()))
    },
  }
}

async function countWrites({ database }: StorageContext, upstream: string | undefined) {
  const rows = await withUpstreams(database.read)
    .selectFrom('upstream_writes')
    .select((eb) => ['state', eb.fn.countAll<number>().as('count')])
    .$if(upstream !== undefined, (select) => select.where('upstream', '=', upstream!))
    .groupBy('state')
    .execute()
  const counts = { pending: 0, delivered: 0, conflict: 0, dropped: 0 }
  for (const { state, count } of rows) counts[state] = Number(count)
  return counts
}

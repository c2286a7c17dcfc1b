import type { StorageContext } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import type { MirrorParts } from '../run.ts'
import type { MirrorAccounts, MirrorOutbox } from '../write-types.ts'
import type { Upstream } from '../types.ts'
import type { UpstreamFetch } from '../upstream-fetch.ts'
import { linkAccount, listAccounts, unlinkAccount } from './accounts.ts'
import { Delivery } from './deliver.ts'
import { dropWrite, listWrites, renameWrite, retryWrite, type OutboxPlace } from './resolve-writes.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** The part of a mirror that sends local changes to upstreams. */
export interface Writing {
  readonly outbox: MirrorOutbox
  readonly accounts: MirrorAccounts
  /** Retries the pending writes to an upstream now. Called when the upstream was reached. */
  wake(upstream: string): void
  close(): Promise<void>
}

/** Starts to send the writes of a registry to its upstreams. In offline mode they stay pending. */
export function createWriting(parts: MirrorParts, signal: AbortSignal): Writing {
  const { context, mode, onError, readCredential } = parts
  const clients = new Map<string, UpstreamFetch>()
  const httpOf = (upstream: Upstream): UpstreamFetch => {
    const client = clients.get(upstream.name) ?? parts.openFetch(upstream, signal)
    clients.set(upstream.name, client)
    return client
  }
  const accountParts = { context, httpOf }
  const delivery = new Delivery({ ...accountParts, readCredential, onError })
  if (mode !== 'offline') inBackground(delivery.start())

  /** Runs work in the background. Errors while the registry closes are ignored. */
  function inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!signal.aborted) onError(error)
    })
  }

  const wake = (upstream: string): void => {
    if (mode !== 'offline') inBackground(delivery.wake(upstream))
  }

  /** When a write was resolved, retries the pending writes to its upstream. */
  async function wakeAfter(resolved: Promise<OutboxPlace>): Promise<void> {
    wake((await resolved).upstream)
  }

  return {
    outbox: {
      list: (options) => listWrites(context, options),
      retry: (id) => wakeAfter(retryWrite(context, id)),
      drop: (id) => wakeAfter(dropWrite(context, id)),
      rename: (id, newName) => wakeAfter(renameWrite(context, id, newName)),
      async deliver(upstream) {
        if (mode === 'offline')
          throw new RegistryError(
            'offline',
            'This node is in offline mode: writes stay pending. Start it with another --network to send them.',
          )
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
      await Promise.all(clients.values().map((client) => client.close()))
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

import type { MirrorContext } from './run.ts'
import { setTimeout } from 'node:timers/promises'
import { printError, type UpstreamOperator } from '@skillstead/core/internal'
import { RegistryError, type MirrorStatus } from '@skillstead/protocol'
import { findUpstream, type FindUpstreamParts } from './find-upstream.ts'
import type { Replacements } from './upstream-fetch.ts'
import type { Mirror, MirrorOptions } from './types.ts'
import { countWritesOf, getWriteOf, listWrites } from './writing/resolve-writes.ts'
import { toShownStatus, toShownWrite } from './operator-forms.ts'

/** How long a request for a sync waits. A failure within this time is returned; a later failure is only stored. */
const startMsMax = 250

/** The functions behind the API's endpoints for administrators of a mirror. */
export function toOperator(
  context: MirrorContext,
  mirror: Mirror,
  { ca, proxy, fetch, onError = printError }: MirrorOptions & Replacements,
): UpstreamOperator {
  async function get(name: string): Promise<MirrorStatus> {
    const [status] = await mirror.status(name)
    return toShownStatus(status!)
  }

  return {
    mode: mirror.mode,
    list: async () => (await mirror.list()).map(toShownStatus),
    get,
    async add(input) {
      const { name, url, ...options } = input
      requireUrl(url)
      await requirePublicUrl(context, url)
      // The URL is requested even if kind and key are given, because the response reports whether the upstream is
      // reachable.
      const finding: FindUpstreamParts = { ...options, ca, proxy, fetch, clock: context.clock }
      const found = mirror.mode === 'offline' ? undefined : await findUpstream(url, finding)
      const added = { ...options, kind: options.kind ?? found?.kind, keysSeen: found?.keys }
      return { ...toShownStatus(await mirror.add(name, url, added)), problem: found?.problem ?? null }
    },
    remove: (name) => mirror.remove(name),
    async sync(name, options) {
      await mirror.status(name)
      const running = mirror.sync(name, options)
      const isOver = running.then(
        () => true,
        (error: unknown) => ({ error }),
      )
      const ended = await Promise.race([isOver, setTimeout(startMsMax, false)])
      if (typeof ended === 'object') throw ended.error
      // A run stores its own failure. Unexpected errors go to the log of the node as well.
      if (!ended) void isOver.then((end) => typeof end === 'object' && reportBug(end.error))
      return get(name)
    },
    async listWrites(name, { states, offset, limit }) {
      await mirror.status(name)
      const writes = await listWrites(context, { upstream: name, states, offset, limit })
      return { writes: writes.map(toShownWrite), total: await countWritesOf(context, name, states) }
    },
    async settleWrite(name, id, resolution) {
      await getWriteOf(context, name, id)
      if (resolution.action === 'rename') await mirror.outbox.rename(id, resolution.newName)
      else await mirror.outbox[resolution.action](id)
      return toShownWrite(await getWriteOf(context, name, id))
    },
  }

  function reportBug(error: unknown): void {
    if (!(error instanceof RegistryError)) onError(error)
  }
}

/** Throws `invalid_request` for a path: no administrator's key may give access to the machine's files or programs. */
function requireUrl(url: string): void {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw refuseUpstreamUrl("must be an http or https URL; add folders and bundles on the node's machine")
}

/** Throws `invalid_request` for a private address, except those that the operator allowed for outgoing requests. */
async function requirePublicUrl({ outgoing }: MirrorContext, url: string): Promise<void> {
  // Removed for this check, because git URLs may contain a username and password.
  const place = Object.assign(new URL(url), { username: '', password: '' })
  try {
    await outgoing.requirePublic(place.href, 'url')
  } catch (error) {
    const message = error instanceof RegistryError ? error.errors[0]?.message : undefined
    if (message === undefined) throw error
    throw refuseUpstreamUrl(
      `${message}; to add it, start the node with --allow-networks, or run the command on the node's machine`,
    )
  }
}

function refuseUpstreamUrl(problem: string): RegistryError {
  const message = `${problem}: skillstead mirror add`
  return new RegistryError('invalid_request', `url ${message}.`, { errors: [{ path: 'url', message }] })
}

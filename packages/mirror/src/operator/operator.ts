import type { MirrorContext } from '../run.ts'
import { setTimeout } from 'node:timers/promises'
import type { UpstreamOperator } from '@skillstead/core/internal'
import { RegistryError, type MirrorStatus, type Parsed, type endpoints } from '@skillstead/protocol'
import { findUpstream } from '../find-upstream.ts'
import type { AddOptions, Mirror, MirrorOptions } from '../types.ts'
import { listWrites } from '../writing/settle.ts'
import { countWritesOf, getWriteOf } from '../writing/writes-of.ts'
import { toShownStatus, toShownWrite } from './forms.ts'

type AddInput = Parsed<(typeof endpoints)['addMirror']>

/** What fails at once is told to whoever asked for a sync; for the rest nobody waits. */
const beginsMs = 250

/** What administrators see of a mirror, and do with it, through the interface of its registry. */
export function toOperator(
  context: MirrorContext,
  mirror: Mirror,
  { ca, fetch, onError = (error) => console.error(error) }: MirrorOptions,
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
      const { name, url } = input
      requireAddress(url)
      await requirePublic(context, url)
      const options = toAddOptions(input)
      // Also where its kind and key are given: the answer reports whether it is reachable.
      const found =
        mirror.mode !== 'offline' ? await findUpstream(url, { ...options, ca, fetch, clock: context.clock }) : undefined
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
      const ended = await Promise.race([isOver, setTimeout(beginsMs, false)])
      if (typeof ended === 'object') throw ended.error
      // The run keeps why it failed, where it got so far; the rest is for the log of the node.
      if (!ended) void isOver.then((end) => typeof end === 'object' && tell(end.error))
      return get(name)
    },
    async listWrites(name, { states, offset, limit }) {
      await mirror.status(name)
      const writes = await listWrites(context, { upstream: name, states, offset, limit })
      return { writes: writes.map(toShownWrite), total: await countWritesOf(context, name, states) }
    },
    async settleWrite(name, id, settlement) {
      await getWriteOf(context, name, id)
      if (settlement.action === 'rename') await mirror.outbox.rename(id, settlement.newName)
      else await mirror.outbox[settlement.action](id)
      return toShownWrite(await getWriteOf(context, name, id))
    },
  }

  function tell(error: unknown): void {
    if (!(error instanceof RegistryError)) onError(error)
  }
}

/** Whoever may use the interface need not be let into the files of the machine, nor to programs on it. */
function requireAddress(url: string): void {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw refuseUrl('must be an http or https address; folders and bundles are added at the machine')
}

/** Nor into its network, but for what of that its operator opened to requests. */
async function requirePublic({ outgoing }: MirrorContext, url: string): Promise<void> {
  // Git takes a name and a password so, and they are no part of the place.
  const place = Object.assign(new URL(url), { username: '', password: '' })
  try {
    await outgoing.requirePublic(place.href, 'url')
  } catch (error) {
    const message = error instanceof RegistryError ? error.errors[0]?.message : undefined
    if (message === undefined) throw error
    throw refuseUrl(`${message}; a node started with --allow-networks takes others, and so does the machine itself`)
  }
}

function refuseUrl(problem: string): RegistryError {
  const message = `${problem}: skillstead mirror add`
  return new RegistryError('invalid_request', `url ${message}.`, { errors: [{ path: 'url', message }] })
}

function toAddOptions({ name: _name, url: _url, ...options }: AddInput): AddOptions {
  return options
}

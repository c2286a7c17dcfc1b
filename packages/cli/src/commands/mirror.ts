import { findUpstream, type Mirror } from '@skillstead/mirror'
import { RegistryError } from '@skillstead/protocol'
import type { Command } from '../command.ts'
import { toListLine, toShown, toStatusLines, type ShownUpstream } from '../mirror/mirror-lines.ts'
import {
  askingOptions,
  changeOptions,
  networkOptions,
  toAddOptions,
  toChangeOptions,
  upstreamOptions,
  withAskedKey,
} from '../mirror/options.ts'
import { toMirrorOptions, withMirror } from '../mirror/with-mirror.ts'
import { originOption } from '../origin-option.ts'
import { storeOptions } from '../place.ts'

/** `skillstead mirror add NAME URL`. */
export const addUpstream: Command<ShownUpstream> = {
  summary: 'Follows another registry: a node, any that speaks the specification, a discovery index, git, or a folder.',
  words: ['NAME', 'URL|PATH'],
  options: { ...upstreamOptions, ...askingOptions, ...originOption, ...storeOptions },
  async run(given) {
    const [name, location] = given.words as [string, string]
    const options = await withAskedKey(given.io, toAddOptions(given), location)
    const { mode, ca } = await toMirrorOptions(given)
    return withMirror(
      given,
      async (mirror) => {
        const asks = !/^https?:/i.test(location) || mode !== 'offline'
        const found = asks ? await findUpstream(location, { ...options, ca }) : undefined
        if (found?.problem !== undefined) throw toUnreachable(found.problem)
        const added = { ...options, kind: options.kind ?? found?.kind, keysSeen: found?.keys }
        return toShown(await mirror.add(name, location, added))
      },
      { make: true },
    )
  },
  show: (added) => [...toStatusLines(added), ...showNext(added)],
}

/** `skillstead mirror set NAME`. */
export const changeUpstream: Command<ShownUpstream & { readonly next: string }> = {
  summary: 'Changes how a registry is followed: what is given, and nothing else.',
  words: ['NAME'],
  options: { ...changeOptions, ...storeOptions },
  async run(given) {
    const [name] = given.words as [string]
    const options = toChangeOptions(given)
    return withMirror(given, async (mirror) => {
      const [{ location }] = (await mirror.status(name)) as [ShownUpstream]
      const changed = await mirror.change(name, await withAskedKey(given.io, options, options.location ?? location))
      const isChosenAnew = (['mode', 'selected', 'filters'] as const).some((option) => options[option] !== undefined)
      return { ...toShown(changed), next: `skillstead mirror sync ${name}${isChosenAnew ? ' --full' : ''}` }
    })
  },
  show: ({ next, ...changed }) => [...toStatusLines(changed), `Go on with: ${next}`],
}

/** `skillstead mirror list`. */
export const listUpstreams: Command<{ upstreams: ShownUpstream[]; total: number }> = {
  summary: 'Lists the registries that are followed, those that are synced first at the top.',
  words: [],
  options: storeOptions,
  async run(given) {
    const upstreams = await withMirror(given, async (mirror) => (await mirror.list()).map(toShown))
    return { upstreams, total: upstreams.length }
  },
  show: ({ upstreams }) => (upstreams.length === 0 ? ['Nothing is followed yet.'] : upstreams.map(toListLine)),
}

/** `skillstead mirror status [NAME]`: a failure to scripts where one stands still. */
export const showStatus: Command<{ upstreams: ShownUpstream[]; total: number }> = {
  summary: 'Tells how the followed registries stand. Exit code 1 where one stands still for an alarm.',
  words: ['[NAME]'],
  options: storeOptions,
  async run(given) {
    const [name] = given.words
    const upstreams = await withMirror(given, async (mirror) => {
      const statuses = (await mirror.status(name)).map(toShown)
      return name === undefined ? statuses : Promise.all(statuses.map((status) => withDetails(mirror, status)))
    })
    return { upstreams, total: upstreams.length }
  },
  show: ({ upstreams }) => (upstreams.length === 0 ? ['Nothing is followed yet.'] : upstreams.flatMap(toStatusLines)),
  hasFailed: ({ upstreams }) => upstreams.some(({ alarm }) => alarm !== null),
}

/** `skillstead mirror remove NAME`. */
export const removeUpstream: Command<{ removed: string }> = {
  summary: 'Follows a registry no more. What came from it stays.',
  words: ['NAME'],
  options: { ...networkOptions, ...storeOptions },
  async run(given) {
    const [name] = given.words as [string]
    await withMirror(given, (mirror) => mirror.remove(name))
    return { removed: name }
  },
  show: ({ removed }) => [`${removed} is followed no more. What came from it stays.`],
}

function toUnreachable(problem: string): RegistryError {
  const advice = 'Nothing was added. Check the address; with --network offline it is added without a request.'
  return new RegistryError('upstream_failed', `${problem} ${advice}`)
}

/** What is told of one upstream only: who is linked, and what did not come in. */
async function withDetails(mirror: Mirror, status: ShownUpstream): Promise<ShownUpstream> {
  const { name } = status
  const accounts = (await mirror.accounts.list()).filter(({ upstream }) => upstream === name)
  return {
    ...status,
    linked: accounts.map(({ user, username }) => ({ user, username })),
    refusals: (await mirror.refusals(name)).map((refusal) => ({ ...refusal, at: new Date(refusal.at).toISOString() })),
  }
}

function showNext({ name, keys, settings }: ShownUpstream): string[] {
  return [
    ...(keys.length > 0 && !settings.pinned
      ? ['Its key was taken as it is. Compare it with the one that its operator publishes, or pin that one with --key.']
      : []),
    `Bring in what it has: skillstead mirror sync ${name}`,
  ]
}

import { findUpstream, type Mirror } from '@skillstead/mirror'
import { RegistryError } from '@skillstead/protocol'
import { command } from '../../command/command.ts'
import { toListLine, toShownUpstream, toStatusLines, type ShownUpstream } from '../../mirror/mirror-lines.ts'
import {
  askingOptions,
  changeOptions,
  networkOptions,
  toAddOptions,
  toChangeOptions,
  upstreamOptions,
  withAskedKey,
} from '../../mirror/options.ts'
import { toMirrorOptions, withMirror } from '../../mirror/with-mirror.ts'
import { storeOptions } from '../../registry/place.ts'
import { originOption } from '../../registry/registry-options.ts'

export const commands = {
  'mirror add': command({
    description: 'Add an upstream: a node, another registry with the base API, a discovery index, git, or a folder.',
    words: ['NAME', 'URL|PATH'],
    options: { ...upstreamOptions, ...askingOptions, ...originOption, ...storeOptions },
    async run(given) {
      const [name, location] = given.words
      const options = await withAskedKey(given.io, toAddOptions(given), location)
      const { mode, ca, proxy } = await toMirrorOptions(given)
      return withMirror(
        given,
        async (mirror) => {
          const asks = !/^https?:/i.test(location) || mode !== 'offline'
          const found = asks ? await findUpstream(location, { ...options, ca, proxy }) : undefined
          if (found?.problem !== undefined) throw toUnreachable(found.problem)
          const added = { ...options, kind: options.kind ?? found?.kind, keysSeen: found?.keys }
          return toShownUpstream(await mirror.add(name, location, added))
        },
        { make: true },
      )
    },
    show: (added) => [...toStatusLines(added), ...showNext(added)],
  }),
  'mirror set': command({
    description: 'Change settings of an upstream. Options that are not given stay as they are.',
    words: ['NAME'],
    options: { ...changeOptions, ...storeOptions },
    async run(given) {
      const [name] = given.words
      const options = toChangeOptions(given)
      return withMirror(given, async (mirror) => {
        const [upstream] = await mirror.status(name)
        const changed = await mirror.change(
          name,
          await withAskedKey(given.io, options, options.location ?? upstream!.location),
        )
        const isChosenAgain = (['mode', 'selected', 'filters'] as const).some((option) => options[option] !== undefined)
        return { ...toShownUpstream(changed), next: `skillstead mirror sync ${name}${isChosenAgain ? ' --full' : ''}` }
      })
    },
    show: ({ next, ...changed }) => [...toStatusLines(changed), `Next: ${next}`],
  }),
  'mirror list': command({
    description: 'List upstreams in the order in which they are synced.',
    options: storeOptions,
    async run(given) {
      const upstreams = await withMirror(given, async (mirror) => (await mirror.list()).map(toShownUpstream))
      return { upstreams, total: upstreams.length }
    },
    show: ({ upstreams }) => (upstreams.length === 0 ? ['There are no upstreams yet.'] : upstreams.map(toListLine)),
  }),
  'mirror status': command({
    description: 'Show the state of upstreams. Exit code 1 when an upstream is paused.',
    words: ['[NAME]'],
    options: storeOptions,
    async run(given) {
      const [name] = given.words
      const upstreams = await withMirror(given, async (mirror) => {
        const statuses = (await mirror.status(name)).map(toShownUpstream)
        return name === undefined ? statuses : Promise.all(statuses.map((status) => withDetails(mirror, status)))
      })
      return { upstreams, total: upstreams.length }
    },
    show: ({ upstreams }) =>
      upstreams.length === 0 ? ['There are no upstreams yet.'] : upstreams.flatMap(toStatusLines),
    hasFailed: ({ upstreams }) => upstreams.some(({ alarm }) => alarm !== null),
  }),
  'mirror remove': command({
    description: 'Remove an upstream. Skills that were imported from it stay.',
    words: ['NAME'],
    options: { ...networkOptions, ...storeOptions },
    async run(given) {
      const [name] = given.words
      await withMirror(given, (mirror) => mirror.remove(name))
      return { removed: name }
    },
    show: ({ removed }) => [`Removed the upstream ${removed}. Skills that were imported from it stay.`],
  }),
}

function toUnreachable(problem: string): RegistryError {
  const advice = 'Nothing was added. Check the address, or pass --network offline to add it without a request.'
  return new RegistryError('upstream_failed', `${problem} ${advice}`)
}

/** Adds the linked users and the refused entries, which are shown for a single upstream only. */
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
      ? [
          'Its key was trusted on first use. Compare it with the key that its operator publishes, or pin that key with --key.',
        ]
      : []),
    `Import its skills: skillstead mirror sync ${name}`,
  ]
}

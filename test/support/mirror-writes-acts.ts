import { randomBytes } from 'node:crypto'
import type { OutboxWrite } from '@skillstead/mirror'
import { expect } from 'vitest'
import type { Open, TestUser } from './harness.ts'
import { openMirror, openUpstream, type MirrorNode, type UpstreamNode } from './mirror-harness.ts'
import { openNetwork, type Network } from './network.ts'

/** A node that is mirrored, a network between the two that a test cuts, and a mirror that writes back. */
export interface WritingPair {
  readonly upstream: UpstreamNode
  readonly network: Network
  readonly mirrored: MirrorNode
  /** Of the user `ann` of the mirror, who is `alice` at the upstream unless it is said. */
  readonly ann: TestUser
  readonly secretKey: Uint8Array
  /** The network leads nowhere, as if the cable were out. */
  unplug(): void
  plugIn(): void
  /** Publishes on the mirror as ann. */
  write(name: string, version?: string, body?: string): Promise<void>
  /** What waits or is in conflict, as `kind subject: state`, with the code of the problem. */
  waiting(): Promise<string[]>
  /** Sends what waits. */
  deliver(): Promise<{ delivered: number; waiting: number; inConflict: number }>
  close(): Promise<void>
}

const nowhere = 'http://127.0.0.1:9'

/** `works` is false, so that nothing is sent before a test says so. */
export async function openPair(
  open: Open,
  { user = 'alice', works = false, link = true }: { user?: string; works?: boolean; link?: boolean } = {},
): Promise<WritingPair> {
  const secretKey = randomBytes(32)
  const upstream = await openUpstream(open)
  await upstream.publish('pdf')
  const network = await openNetwork(upstream.url)
  const mirrored = await openMirror(open, {}, { works, secretKey })
  const { mirror, test } = mirrored
  await mirror.add('main', network.url)
  await mirror.sync('main')
  const ann = await test.makeUser(user === 'alice' ? 'ann' : user)
  if (link) await mirror.accounts.link(ann.username, 'main', upstream.alice.key)
  return {
    upstream,
    network,
    mirrored,
    ann,
    secretKey,
    unplug: () => network.leadTo(nowhere),
    plugIn: () => network.leadTo(upstream.url),
    async write(name, version = '1.0.0', body = 'Does it.') {
      await ann.api.publishSkill({ skillMd: toSkillMd(name, body), version, files: [{ path: 'a.txt', content: body }] })
    },
    waiting: async () => (await mirror.outbox.list()).map(tell),
    deliver: () => mirror.outbox.deliver(),
    close: () => network.close(),
  }
}

export function toSkillMd(name: string, body: string): string {
  return `---\nname: ${name}\ndescription: Does ${name}\n---\n# ${name}\n\n${body}\n`
}

/** As a line of a list. */
function tell({ kind, subject, version, state, problem }: OutboxWrite): string {
  return `${kind} ${subject}${version === null ? '' : `@${version}`}: ${state}${problem ? ` (${problem.code})` : ''}`
}

/** What an upstream has under a name must be what is here under another. */
export async function expectSame(there: UpstreamNode, nameThere: string, here: MirrorNode, nameHere: string) {
  const [a, b] = [
    await there.test.api().getSkill({ name: nameThere }),
    await here.test.api().getSkill({ name: nameHere }),
  ]
  expect(a.versions.map(({ version, digest }) => ({ version, digest }))).toEqual(
    b.versions.map(({ version, digest }) => ({ version, digest })),
  )
}

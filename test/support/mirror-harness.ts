import { createMirror, type Mirror, type MirrorOptions } from '@skillstead/mirror'
import { listenNode, type ListeningNode } from '@skillstead/server'
import type { Replacements } from '../../packages/mirror/src/upstream-fetch.ts'
import type { SkillDetails } from '@skillstead/protocol'
import type { Open, TestRegistry, TestUser } from './harness.ts'
import { steady } from './steady.ts'

/** An upstream registry that listens on a port and has a user who publishes. */
export interface UpstreamNode {
  readonly test: TestRegistry
  readonly node: ListeningNode
  readonly url: string
  readonly alice: TestUser
  publish(
    name: string,
    version?: string,
    more?: { body?: string; license?: string; keywords?: string[] },
  ): Promise<void>
}

/** A registry with a mirror, and what the mirror told. */
export interface MirrorNode {
  readonly test: TestRegistry
  readonly mirror: Mirror
  readonly alarms: string[]
  readonly errors: unknown[]
}

const ending: (() => Promise<void>)[] = []

/** To be called after each test, before the registries close. */
export async function endMirrors(): Promise<void> {
  for (const end of ending.splice(0).toReversed()) await end()
}

/** The node that others follow is on SQLite: the suites are about the mirror, and its database is the suite's. */
export async function openUpstream(open: Open, options: Parameters<Open>[0] = {}): Promise<UpstreamNode> {
  const test = await open({ dialect: 'SQLite', ...options })
  const alice = await test.makeUser('alice', { plan: 'enterprise' })
  const node = await listenNode(test.registry, { port: 0, ...steady, graceMs: 1000 })
  ending.push(() => node.close())
  return {
    test,
    node,
    url: node.url,
    alice,
    async publish(name, version = '1.0.0', { body = 'Does it.', ...rest } = {}) {
      const skillMd = `---\nname: ${name}\ndescription: Does ${name}\n---\n# ${name}\n\n${body} In ${version}.\n`
      await alice.api.publishSkill({ skillMd, version, ...rest })
    },
  }
}

export async function openMirror(
  open: Open,
  options: MirrorOptions & Replacements = {},
  opening: Parameters<Open>[0] = {},
): Promise<MirrorNode> {
  const test = await open(opening)
  const alarms: string[] = []
  const errors: unknown[] = []
  const mirror = createMirror(test.registry, {
    onError: (error) => void errors.push(error),
    onAlarm: (upstream, { code }) => void alarms.push(`${upstream}: ${code}`),
    ...options,
  })
  ending.push(() => mirror.close())
  return { test, mirror, alarms, errors }
}

/** What must be the same of a skill here and there. */
export function readTold(skill: SkillDetails) {
  const { id, fullName, description, latestVersion, author, license, category, keywords, digest, size } = skill
  const { publishedAt, files, versions, deprecated, deprecationMessage, repository, frontmatter, security } = skill
  return {
    id,
    fullName,
    description,
    latestVersion,
    // Each node names the picture by an address of its own.
    author: { ...author, avatarUrl: new URL(author.avatarUrl, 'http://node').pathname },
    license,
    category,
    keywords,
    digest,
    size,
    publishedAt,
    files,
    versions,
    deprecated,
    deprecationMessage,
    repository,
    frontmatter,
    score: security?.score,
  }
}

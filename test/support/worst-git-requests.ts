import { systemCaller, type Registry } from '@skillstead/core'
import { importVersions, partsOf } from '@skillstead/core/internal'
import { fetchObjects, listRefs, toPackets } from './git-client.ts'

/** What an owner of the worst requests has. */
export interface OwnerSize {
  readonly skills: number
  /** Files of each skill, without SKILL.md. */
  readonly files: number
  /** Default: 1. */
  readonly versions?: number
  /** A further file of each version, with bytes that cannot be compressed. Default: none. */
  readonly largeBytes?: number
}

/** Publishes the skills of an owner. Only SKILL.md and the large file differ between the versions of a skill. */
export async function fillOwner(registry: Registry, owner: string, size: OwnerSize): Promise<void> {
  const { skills, versions = 1 } = size
  for (let n = 0; n < versions; n++) {
    const batch = Array.from({ length: skills }, (_, i) => toVersion(owner, i, n, size))
    const refused = (await importVersions(partsOf(registry), batch, systemCaller)).find(({ error }) => error)
    if (refused?.error) throw refused.error
  }
}

function toVersion(owner: string, i: number, n: number, { skills, files, largeBytes = 0 }: OwnerSize) {
  const name = `skill-${i}`
  const small = Array.from({ length: files }, (_, k) => {
    return { path: `notes/part-${k}.md`, bytes: Buffer.from(`# Part ${k} of ${name}\n\nNothing else.\n`) }
  })
  const large = largeBytes === 0 ? [] : [{ path: 'data.bin', bytes: toNoise(i * 1000 + n, largeBytes) }]
  return {
    owner,
    name,
    version: `1.${n}.0`,
    publishedAt: Date.UTC(2026, 0, 1) + (n * skills + i) * 1000,
    skillMd: `---\nname: ${name}\ndescription: Does thing ${i} with files\n---\nVersion ${n}.\n`,
    files: [...small, ...large],
  }
}

/** Bytes that look random, the same in every run (xorshift). */
export function toNoise(seed: number, bytes: number): Buffer {
  const noise = Buffer.alloc(bytes)
  let state = (seed + 1) * 0x9e3779b1
  for (let at = 0; at < bytes; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    noise[at] = state
  }
  return noise
}

/** The ids of the commits of a repository, newest first. */
export async function readCommits(repository: string): Promise<string[]> {
  const { HEAD = '' } = await listRefs(repository)
  const objects = await fetchObjects(repository, [HEAD])
  const commits: string[] = []
  for (let id: string | undefined = HEAD; id !== undefined;) {
    commits.push(id)
    id = /^parent (\w{40})$/m.exec(objects.get(id)!.bytes.toString())?.[1]
  }
  return commits
}

/** A request to `git-upload-pack` with the version of the protocol that its body has. */
export interface WorstGitRequest {
  readonly title: string
  readonly version: 0 | 2
  readonly body: Buffer
}

const fetching = (...lines: readonly string[]) => toPackets('command=fetch', '0001', ...lines, 'done', '0000')

/** Commits that no repository has. */
const strange = (count: number) => Array.from({ length: count }, (_, i) => `have ${`${i}`.padStart(40, 'e')}`)

/**
 * Valid requests that cost a node more than a clone does. `commits`: as {@link readCommits} returns them.
 */
export function toWorstGitRequests(commits: readonly string[]): WorstGitRequest[] {
  const [head = ''] = commits
  const every = (step: number, most: number) => commits.filter((_, i) => i % step === 1).slice(0, most)
  return [
    { title: 'a clone', version: 2, body: fetching(`want ${head}`) },
    { title: 'a shallow clone', version: 2, body: fetching(`want ${head}`, 'deepen 1') },
    {
      title: 'many shallow commits at once',
      version: 2,
      body: fetching(...every(2, 300).map((id) => `want ${id}`), 'deepen 1'),
    },
    {
      title: 'many haves that are shallow commits',
      version: 2,
      body: fetching(
        `want ${head}`,
        'deepen 100000',
        ...every(2, 300).flatMap((id) => [`have ${id}`, `shallow ${id}`]),
      ),
    },
    {
      title: 'many haves that are shallow commits, version 0',
      version: 0,
      body: toPackets(
        `want ${head} thin-pack`,
        ...every(2, 300).map((id) => `shallow ${id}`),
        'deepen 100000',
        '0000',
        ...every(2, 300).map((id) => `have ${id}`),
        'done',
      ),
    },
    { title: 'unknown haves', version: 2, body: fetching(`want ${head}`, ...strange(32_000)) },
    {
      title: 'haves without an end',
      version: 2,
      body: toPackets('command=fetch', '0001', `want ${head}`, ...strange(32_000), '0000'),
    },
  ]
}

import { createHash } from 'node:crypto'
import { request, type IncomingMessage } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { guest } from '@skillstead/core'
import { partsOf, readRepositoryVersions } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import { createNode, listenNode } from '@skillstead/server'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createCallerTurns } from '../../packages/gateways/src/git/caller-turns.ts'
import { PackEntries } from '../../packages/gateways/src/git/pack-entries.ts'
import { createPacksSent } from '../../packages/gateways/src/git/packs-sent.ts'
import { planPack } from '../../packages/gateways/src/git/pack-stream.ts'
import type { Commit } from '../../packages/gateways/src/git/repository.ts'
import { openHistoryWriter } from '../../packages/gateways/src/git/scope-history.ts'
import { createScopeRepositories } from '../../packages/gateways/src/git/scope-repository.ts'
import { VersionTrees } from '../../packages/gateways/src/git/version-trees.ts'
import { codeOf } from '../support/answers.ts'
import { startGit, toSkillMd } from '../support/git-acts.ts'
import { fetchObjects, listRefs, readPack, toPackets, upload } from '../support/git-client.ts'
import { describeDatabases } from '../support/harness.ts'
import { startNode } from '../support/server-harness.ts'
import { steady } from '../support/steady.ts'
import { fillOwner, readCommits, toNoise, toWorstGitRequests } from '../support/worst-git-requests.ts'

interface History {
  /** Oldest first. */
  readonly commits: readonly Commit[]
  /** The digests of the versions that a commit contains. */
  contentOf(commit: Commit): readonly string[]
}

/** A history of an owner: a version of a skill for each commit. The first commit also has `base`. */
async function makeHistory(skills: readonly number[], base: readonly number[] = []): Promise<History> {
  const toChange = (skill: number, n: number) => ({
    id: `id-${n}`,
    digest: `digest-${n}`,
    version: `1.0.${n + base.length}`,
    size: 100,
    owner: 'ann',
    name: `skill-${skill}`,
    folder: `skill-${skill}`,
    publishedAt: n * 1000,
    tree: toId(`tree-${n}`),
    isPluginRoot: false,
    description: 'Reads files',
    license: 'MIT',
    keywords: [],
  })
  const first = base.map((skill, i) => toChange(skill, -1 - i))
  const writer = await openHistoryWriter({ name: 'ann', base: first, last: undefined })
  const current = new Map(first.map((change) => [change.folder, change.digest]))
  const contents = new Map<Commit, readonly string[]>()
  for (const [n, skill] of skills.entries()) {
    const change = toChange(skill, n)
    current.set(change.folder, change.digest)
    contents.set(writer.append(change).commit, [...current.values()])
  }
  return { commits: [...contents.keys()], contentOf: (commit) => contents.get(commit)! }
}

const toId = (text: string) => createHash('sha1').update(text).digest('hex')

/** A tree for each version, and the digests of the versions that were listed. */
function createListing() {
  const listed: string[] = []
  const readContent = async ({ digest }: { readonly digest: string }) => {
    listed.push(digest)
    return [{ kind: 'tree' as const, id: toId(digest), bytes: Buffer.from(digest) }]
  }
  return { listed, readContent }
}

function toSelection({ commits: history }: History, wanted: readonly Commit[], known: readonly Commit[] = []) {
  const client = { known, isThin: false, readsOffsets: true, shallow: [], unshallow: [] }
  return { history, commits: wanted.toReversed(), tags: [], ...client }
}

const free = async () => {}

describe('planning a git pack', () => {
  it('reads each version once, however many commits contain the version', async () => {
    const history = await makeHistory(Array.from({ length: 300 }, (_, i) => i % 100))
    const wanted = history.commits.filter((_, i) => i % 2 === 0)
    const known = history.commits.filter((_, i) => i % 2 === 1)
    for (const selection of [toSelection(history, wanted), toSelection(history, wanted, known)]) {
      const { listed, readContent } = createListing()
      await planPack(selection, { readContent, charge: free })
      expect(new Set(listed).size).toBe(listed.length)
      expect(listed.length).toBeLessThanOrEqual(300)
    }
  })

  it('reads only versions of changed skills for a client that has the parent commit', async () => {
    const history = await makeHistory([...Array.from({ length: 100 }, (_, i) => i), 7])
    const [known, wanted] = [history.commits.slice(-2, -1), history.commits.slice(-1)]
    const { listed, readContent } = createListing()
    await planPack(toSelection(history, wanted, known), { readContent, charge: free })
    expect(listed).toEqual(['digest-7', 'digest-100'])
  })

  it('includes all versions of the commits that the client lacks', async () => {
    const index = fc.nat({ max: 11 })
    const given = fc.record({
      skills: fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 12 }),
      base: fc.uniqueArray(fc.nat({ max: 5 })),
      wanted: fc.uniqueArray(index),
      known: fc.uniqueArray(index),
    })
    await fc.assert(
      fc.asyncProperty(given, async ({ skills, base, wanted, known }) => {
        const history = await makeHistory(skills, base)
        const pick = (chosen: readonly number[]) => history.commits.filter((_, i) => chosen.includes(i))
        const had = pick(known.filter((i) => !wanted.includes(i)))
        const selection = toSelection(history, pick(wanted), had)
        const { readContent } = createListing()
        const plan = await planPack(selection, { readContent, charge: free })
        const contents = (commits: readonly Commit[]) => new Set(commits.flatMap(history.contentOf))
        const sent = plan.versions.filter(({ isSent }) => isSent[0] === 1).map(({ version }) => version.digest)
        const inClient = contents(had)
        expect(new Set([...inClient, ...sent])).toEqual(new Set([...inClient, ...contents(pick(wanted))]))
        expect(sent.filter((digest) => inClient.has(digest))).toEqual([])
        expect(plan.count).toBe(plan.objects.length + sent.length)
      }),
    )
  })

  it('is charged before the first version is read', async () => {
    const history = await makeHistory([0, 1, 2, 0])
    const { listed, readContent } = createListing()
    const charged: number[] = []
    const charge = async (versions: number) => {
      charged.push(versions)
      throw new RegistryError('rate_limited', 'Too many.')
    }
    const planned = planPack(toSelection(history, history.commits.slice(-1)), { readContent, charge })
    expect(await codeOf(planned)).toBe('rate_limited')
    expect({ charged, listed }).toEqual({ charged: [3], listed: [] })
  })

  it('ends with an error if a version is deleted during the planning', async () => {
    const history = await makeHistory([0, 1])
    const planned = planPack(toSelection(history, history.commits), { readContent: async () => [], charge: free })
    await expect(planned).rejects.toThrow('A version was deleted meanwhile. Fetch again.')
  })

  it('ends when the client disconnects', async () => {
    const history = await makeHistory(Array.from({ length: 400 }, (_, i) => i))
    const client = new AbortController()
    const { listed, readContent } = createListing()
    const planned = planPack(toSelection(history, history.commits), {
      charge: free,
      signal: client.signal,
      async readContent(version) {
        client.abort(new Error('gone'))
        await setTimeout(1)
        return readContent(version)
      },
    })
    await expect(planned).rejects.toThrow('gone')
    expect(listed.length).toBeLessThan(history.commits.length)
  })
})

it('the event loop is not blocked while the worst valid git requests are answered', async () => {
  const { registry, node } = await startNode()
  await fillOwner(registry, 'ann', { skills: 120, files: 40 })
  const repository = `${node.url}/git/ann.git`
  const requests = toWorstGitRequests(await readCommits(repository))
  for (const { title, version, body } of requests) {
    const loop = watchLoop()
    const response = await upload(repository, body, { version })
    const { spentMs, longestMs } = loop.stop()
    await response.body!.cancel()
    expect(response.status, title).toBe(200)
    // Of the processor time until the head of the response: most of it without a turn is a blocked node.
    expect(longestMs / Math.max(spentMs, 100), title).toBeLessThan(0.5)
  }
})

it('the reading of a repository ends when the client disconnects', async () => {
  const { registry } = await startGit()
  const context = partsOf(registry)
  const trees = new VersionTrees(context)
  const gone = AbortSignal.abort(new Error('gone'))
  const scope = { of: 'owner', owner: 'alice' } as const
  await expect(readRepositoryVersions(context, scope, guest, gone)).rejects.toThrow('gone')
  const versions = await readRepositoryVersions(context, scope, guest)
  await expect(trees.findRoots(versions, { signal: gone })).rejects.toThrow('gone')
})

it('git work of a caller waits for other work of the same caller, not for that of other callers', async () => {
  const turns = createCallerTurns(2)
  const { signal } = new AbortController()
  const gone = new AbortController()
  const gate = Promise.withResolvers<void>()
  const begun: string[] = []
  const take = (caller: string, name: string, of = signal) =>
    turns.take(caller, of, async () => {
      begun.push(name)
      await gate.promise
    })
  const some = ['1', '2', '3', '4'].map((n) => take('ann', `ann ${n}`))
  const abandoned = take('ann', 'ann 5', gone.signal)
  some.push(take('bob', 'bob 1'))
  await expect.poll(() => begun).toEqual(['ann 1', 'ann 2', 'bob 1'])
  gone.abort(new Error('gone'))
  gate.resolve()
  await Promise.all(some)
  await expect(abandoned).rejects.toThrow('gone')
  expect(begun).toEqual(['ann 1', 'ann 2', 'bob 1', 'ann 3', 'ann 4'])
})

/** Does not count other processes. */
function readProcessorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function watchLoop() {
  const startMs = readProcessorMs()
  let lastMs = startMs
  let longestMs = 0
  const turn = () => {
    const nowMs = readProcessorMs()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
    immediate = setImmediate(turn)
  }
  let immediate = setImmediate(turn)
  return {
    stop() {
      clearImmediate(immediate)
      const nowMs = readProcessorMs()
      return { spentMs: nowMs - startMs, longestMs: Math.max(longestMs, nowMs - lastMs) }
    },
  }
}

describe('a large file', () => {
  const mebibyte = 1024 * 1024
  it('is received completely by clients that pause, while other clients can clone', async () => {
    const { registry, node } = await startNode()
    // Each is more than the buffers of a connection, and together they are as large as the cache of parts.
    await fillOwner(registry, 'ann', { skills: 6, files: 0, largeBytes: 8 * mebibyte })
    await fillOwner(registry, 'bob', { skills: 1, files: 0, largeBytes: mebibyte / 2 })
    const slow: IncomingMessage[] = []
    for (let i = 0; i < 6; i++) slow.push(await openClone(`${node.url}/git/ann/skill-${i}.git`))
    // The other objects have less.
    for (const { socket } of slow) await expect.poll(() => socket.bytesRead).toBeGreaterThan(60_000)
    const repository = `${node.url}/git/bob/skill-0.git`
    const { HEAD = '' } = await listRefs(repository)
    expect((await fetchObjects(repository, [HEAD])).size).toBe(5)
    for (const response of slow) {
      const chunks: Buffer[] = await response.toArray()
      const objects = readPack(Buffer.concat(chunks).subarray('0008NAK\n'.length))
      const sizes = [...objects.values()].map(({ bytes }) => bytes.length)
      expect(Math.max(...sizes)).toBe(8 * mebibyte)
    }
  })

  it('is sent only until a time limit', async () => {
    const { registry, node } = await startNode()
    await fillOwner(registry, 'ann', { skills: 1, files: 0, largeBytes: 8 * mebibyte })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const slow = await openClone(`${node.url}/git/ann/skill-0.git`)
    const { socket } = slow
    await expect.poll(() => socket.bytesRead).toBeGreaterThan(60_000)
    const ended = slow.toArray()
    vi.advanceTimersByTime(30 * 60_000)
    await expect(ended).rejects.toThrow('aborted')
  })

  it('that exceeds the allowance is refused with the size and advice', async () => {
    const { registry, node } = await startNode({ rates: { mebibytes: 1 } })
    await fillOwner(registry, 'ann', { skills: 1, files: 0, largeBytes: 3 * mebibyte })
    const repository = `${node.url}/git/ann/skill-0.git`
    const { HEAD = '' } = await listRefs(repository)
    const refused = await upload(repository, toPackets(`want ${HEAD}`, '0000', 'done'))
    expect(refused.status).toBe(429)
    expect(await refused.text()).toMatch(
      /^Too many bytes downloaded from this address; try again in \d+ s\. The operator sets this limit with `--rate-limits mebibytes=NUMBER`\. The pack has 4 MiB\. If it is refused again, fetch less at once: --depth 1\.$/m,
    )
  })

  it('is read only once for concurrent readers, as a whole and in parts', async () => {
    const content = toNoise(1, 3 * mebibyte)
    const calls: string[] = []
    const entries = new PackEntries({
      async *read(blobs) {
        for (const { digest } of blobs) {
          calls.push('whole')
          yield [digest, content]
        }
      },
      async readPart(_, { from, bytesMax }) {
        expect(bytesMax).toBe(mebibyte / 4)
        calls.push('part')
        return { encoding: 'identity', storedBytes: content.length, bytes: content.subarray(from, from + bytesMax) }
      },
    })
    const blob = { kind: 'blob', id: toId('blob'), digest: 'digest', size: content.length } as const
    const reading = Array.from({ length: 3 }, () => entries.read([blob]))
    for (const one of reading) await one.next()
    // The checksum, which is the end of the entry.
    expect(calls).toEqual(['whole'])
    for (const one of reading) await one.next()
    for (const one of reading) await one.return(undefined)
    expect(calls).toEqual(['whole', 'part'])
  })

  it('is refused to a caller who is receiving 128 git packs at the same time', async () => {
    const { registry, key } = await startGit()
    const node = createNode(registry, { ...steady })
    const address = 'http://localhost/git/alice/tables.git'
    const refs = await node.fetch(new Request(`${address}/info/refs?service=git-upload-pack`))
    const head = /([0-9a-f]{40}) HEAD/.exec(await refs.text())![1]
    const fetchPack = (headers: Record<string, string> = {}) =>
      node.fetch(
        new Request(`${address}/git-upload-pack`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-git-upload-pack-request', ...headers },
          body: new Uint8Array(toPackets(`want ${head}`, '0000', 'done')),
        }),
      )
    const unread = []
    for (let i = 0; i < 128; i++) unread.push(await fetchPack())
    expect(new Set(unread.map(({ status }) => status))).toEqual(new Set([200]))
    const refused = await fetchPack()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
    expect(await refused.text()).toMatch(/^You are receiving 128 packs at the moment\./)
    const other = await fetchPack({ authorization: `Basic ${btoa(`git:${key}`)}` })
    expect(other.status).toBe(200)
    await unread[0]!.body!.cancel()
    expect((await unread[1]!.arrayBuffer()).byteLength).toBeGreaterThan(0)
    for (const one of [await fetchPack(), await fetchPack()]) expect(one.status).toBe(200)
    expect((await fetchPack()).status).toBe(429)
  })
})

it('the number of packs that a node sends to all callers at once is limited', () => {
  const sent = createPacksSent()
  const ends = Array.from({ length: 1024 }, (_, i) => sent.begin(`caller ${i % 8}`))
  expect(() => sent.begin('caller 9')).toThrow('The node is sending as many packs as it can.')
  for (const end of [...ends.slice(0, 1), ...ends.slice(0, 1)]) end()
  sent.begin('caller 9')
  expect(() => sent.begin('caller 9')).toThrow('The node is sending as many packs as it can.')
})

describeDatabases('large files in a pack', (open) => {
  it('have the published bytes, whether the database stores them compressed or not', async () => {
    const { registry, admin } = await open()
    const node = await listenNode(registry, { port: 0, ...steady })
    onTestFinished(() => node.close())
    const part = 256 * 1024
    const contents = [part, part + 1, 2 * part, 65_535 * 5, 3_000_000].flatMap((bytes, i) => [
      toNoise(i, bytes),
      Buffer.from(Array.from({ length: bytes / 8 + 1 }, (_, n) => `${n * (i + 1)} in hex `).join('')).subarray(
        0,
        bytes,
      ),
    ])
    const files = contents.map((bytes, i) => {
      return { path: `data-${i}.bin`, content: bytes.toString('base64'), encoding: 'base64' as const }
    })
    await admin.api.publishSkill({ skillMd: toSkillMd('large', 'Large files.'), version: '1.0.0', files })
    const repository = `${node.url}/git/root/large.git`
    const { HEAD = '' } = await listRefs(repository)
    const digests = new Set([...(await fetchObjects(repository, [HEAD])).values()].map(({ bytes }) => toDigest(bytes)))
    for (const [i, bytes] of contents.entries()) expect(digests.has(toDigest(bytes)), `file ${i}`).toBe(true)
  })
})

const toDigest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Begins a clone without side bands, and reads nothing of the pack. */
async function openClone(repository: string): Promise<IncomingMessage> {
  const { HEAD = '' } = await listRefs(repository)
  const body = toPackets(`want ${HEAD}`, '0000', 'done')
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-git-upload-pack-request', 'content-length': body.length }
    request(`${repository}/git-upload-pack`, { method: 'POST', headers }, resolve).on('error', reject).end(body)
  })
}

it('the largest git history of an owner is built once for several requests, and its versions are charged once', async () => {
  const { api, registry } = await startGit()
  // With the longest descriptions, it is larger than the cache of histories.
  const skillMd = toSkillMd('long', 'Text.').replace('Reads files', 'é'.repeat(4096))
  await api.publishSkill({ skillMd, version: '1.0.0' })
  const context = partsOf(registry)
  const all = await readRepositoryVersions(context, { of: 'owner', owner: 'alice' }, guest)
  const one = all.find(({ name }) => name === 'long')!
  const versions = Array.from({ length: 4096 }, (_, n) => ({ ...one, version: `1.0.${n}` }))
  const repositories = createScopeRepositories(context, new VersionTrees(context))
  const charged: number[] = []
  const open = () => repositories.open('alice', versions, { charge: async (count) => void charged.push(count) })
  const made = await open()
  expect(made.commits.size).toBe(4096)
  expect(await open()).toBe(made)
  expect(charged).toEqual([4096])
})

it('the tree of a version is found after another version with the same digest was deleted', async () => {
  const { registry } = await startGit()
  const context = partsOf(registry)
  const select = context.database.read.selectFrom('versions').select(['id', 'digest'])
  const { id, digest } = await select.where('version', '=', '1.0.0').executeTakeFirstOrThrow()
  const trees = new VersionTrees(context)
  const deleted = { id: 'deleted', digest }
  expect(await trees.findRoots([deleted])).toEqual(new Map())
  expect([...(await trees.findRoots([{ id, digest }])).keys()]).toEqual([digest])
})

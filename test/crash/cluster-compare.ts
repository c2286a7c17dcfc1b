import { setTimeout } from 'node:timers/promises'
import { createClient } from '@skillstead/client'
import { verifyCheckpoint, verifyProvenance } from '@skillstead/client/verify'
import type { Registry } from '@skillstead/core'
import { partsOf, type StorageContext } from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { checkRegistry } from '@skillstead/maintenance'
import { naiveRoot } from '../support/naive-tree.ts'
import { readEntries } from '../support/signed-log.ts'
import { type Told, toFilePath } from './cluster-load.ts'
import type { Services } from './cluster-services.ts'
import { openRegistry } from '../support/open-registry.ts'

export interface CompareOptions extends Pick<Services, 'options' | 'lost'> {
  readonly databaseUrl: string
  readonly nodeUrls: readonly string[]
  readonly told: Told
  /** The names of the skills whose events a receiver got. */
  readonly delivered: ReadonlySet<string>
  readonly verifierKeys: readonly string[]
}

/** The violations found, as sentences. Each list is empty if the run passed. */
export interface Faults {
  /** Writes that were acknowledged, but are not stored. */
  readonly lost: string[]
  /** Writes that are stored only in part. */
  readonly halves: string[]
  /** Acknowledged versions that were never delivered, and delivered versions that are not stored. */
  readonly deliveries: string[]
  /** Errors of the log: invalid proofs, and contradictions to earlier checkpoints. */
  readonly log: string[]
  /** Paths for which the nodes return different responses. */
  readonly differing: string[]
}

const pollMs = 100
const patienceMs = 240_000
/** The time for the last change to reach all nodes. */
const hearingMs = 20_000
/** The number of items checked where each check costs a request or a hash tree. */
const samples = 25

/** Compares recorded responses and deliveries with the stored data and with what the nodes return now. */
export async function compare(options: CompareOptions): Promise<{ stored: number; entries: number; faults: Faults }> {
  const {
    databaseUrl,
    options: { blobs },
  } = options
  const registry = await openRegistry({ databaseUrl, blobs, works: false })
  try {
    await untilDone(partsOf(registry))
    const stored = await readStored(partsOf(registry))
    const log = await checkLog(options)
    const faults: Faults = {
      lost: [
        ...findLost(options.told, stored),
        ...(await findLostFiles(options)),
        ...(await findLostUses(partsOf(registry), options.told)),
      ],
      halves: await findHalves(registry, options.lost),
      deliveries: [
        ...[...options.told.published.keys()].filter((name) => !options.delivered.has(name)),
        ...[...options.delivered].filter((name) => !stored.has(name)),
      ],
      log: log.faults,
      differing: await findDiffering(options),
    }
    return { stored: stored.size, entries: log.entries, faults }
  } finally {
    await registry.close()
  }
}

/** Waits until the other nodes have done the pending work of killed nodes. */
async function untilDone({ database }: StorageContext): Promise<void> {
  const endMs = performance.now() + patienceMs
  for (;;) {
    const { jobs } = await database.read
      .selectFrom('outbox')
      .select((eb) => eb.fn.countAll<number>().as('jobs'))
      .where('topic', '=', 'webhook.delivery')
      .where('state', '=', 'pending')
      .executeTakeFirstOrThrow()
    const uncounted = await database.read.selectFrom('install_journal').select('id').limit(1).executeTakeFirst()
    if ((jobs === 0 && !uncounted) || performance.now() > endMs) return
    await setTimeout(pollMs)
  }
}

async function readStored({ database }: StorageContext): Promise<Map<string, string>> {
  const rows = await database.read.selectFrom('skills').select(['name', 'latest_version']).execute()
  return new Map(rows.map(({ name, latest_version }) => [name, latest_version]))
}

function findLost({ published }: Told, stored: ReadonlyMap<string, string>): string[] {
  return [...published].flatMap(([name, { version }]) =>
    stored.get(name) === version ? [] : [`${name}@${version} is ${stored.get(name) ?? 'not there'}.`],
  )
}

/** The nodes have just started, so that none has a file in its memory. */
async function findLostFiles({ told: { files }, nodeUrls, lost }: CompareOptions): Promise<string[]> {
  const faults: string[] = []
  for (const [i, [name, digest]] of [...files].entries()) {
    const answer = await fetch(nodeUrls[i % nodeUrls.length] + toFilePath(name))
    const isThere = toDigest(await answer.bytes()) === digest
    const isExcused = lost.has(digest) && answer.status >= 500
    if (!isThere && !isExcused) faults.push(`The file of ${name} was answered ${answer.status}.`)
  }
  return faults
}

async function findLostUses({ database }: StorageContext, { stars, installs }: Told): Promise<string[]> {
  const given = await database.read
    .selectFrom('stars')
    .innerJoin('users', 'users.id', 'stars.user_id')
    .innerJoin('skills', 'skills.id', 'stars.skill_id')
    .select(['users.username', 'skills.name'])
    .execute()
  const kept = new Set(given.map(({ username, name }) => `${username} ${name}`))
  const counts = await database.read
    .selectFrom('install_hours')
    .innerJoin('skills', 'skills.id', 'install_hours.skill_id')
    .select((eb) => ['skills.name', eb.fn.sum<number>('install_hours.installs').as('installs')])
    .groupBy('skills.name')
    .execute()
  const counted = new Map(counts.map((row) => [row.name, Number(row.installs)]))
  const wrong = [...installs].filter(([name, { answered, sent }]) => {
    const count = counted.get(name) ?? 0
    return count < answered || count > sent
  })
  return [
    ...[...stars].filter((star) => !kept.has(star)).map((star) => `The star of ${star} is not there.`),
    ...wrong.map(([name, { answered, sent }]) => {
      return `${name} has ${counted.get(name) ?? 0} installs; ${answered} of ${sent} were answered.`
    }),
  ]
}

/** Returns the findings of `skillstead doctor`, and the versions that lack a required part. */
/** `lost`: digests of the files that the bucket did lose, which the doctor names once a read has missed them. */
async function findHalves(registry: Registry, lost: ReadonlySet<string>): Promise<string[]> {
  const { read } = partsOf(registry).database
  const marked = await read.selectFrom('blobs').select('digest').where('place', '=', 'lost').execute()
  const isExcused = ({ name, detail }: { name: string; detail: string }) =>
    name === 'blobs' && detail.startsWith('The bucket lost') && marked.every(({ digest }) => lost.has(digest))
  const findings = (await checkRegistry(registry)).filter((finding) => !finding.ok && !isExcused(finding))
  const without = await read
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .leftJoin('version_files', 'version_files.version_id', 'versions.id')
    .leftJoin('blobs', 'blobs.digest', 'version_files.digest')
    .leftJoin('scans', 'scans.version_id', 'versions.id')
    .select(['skills.name', 'version_files.path', 'blobs.size', 'scans.version_id as scanned'])
    .where((eb) =>
      eb.or([eb('version_files.path', 'is', null), eb('blobs.size', 'is', null), eb('scans.version_id', 'is', null)]),
    )
    .execute()
  const logged = await read.selectFrom('log').select('subject').where('type', '=', 'version').execute()
  const versions = await read
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select(['skills.full_name', 'versions.version'])
    .execute()
  const subjects = new Set(logged.map(({ subject }) => subject))
  const unlogged = versions.map((row) => `${row.full_name}@${row.version}`).filter((subject) => !subjects.has(subject))
  return [
    ...findings.map((finding) => JSON.stringify(finding)),
    ...without.map((row) => `A version of ${row.name} lacks a part: ${JSON.stringify(row)}`),
    ...unlogged.map((subject) => `${subject} is not in the log.`),
    ...(logged.length === versions.length ? [] : [`The log has ${logged.length} of ${versions.length} versions.`]),
  ]
}

/** Verifies the log as an outside client: with the verifier key and the responses of the nodes alone. */
async function checkLog({ nodeUrls, told, verifierKeys }: CompareOptions) {
  const faults: string[] = []
  const heads = await Promise.all(nodeUrls.map((url) => readText(`${url}/api/v1/checkpoint`)))
  const [head, ...others] = heads.map((note) => verifyCheckpoint(note, verifierKeys))
  for (const { treeSize, rootHash } of others)
    if (treeSize !== head!.treeSize || rootHash !== head!.rootHash)
      faults.push('Two nodes have two newest checkpoints.')
  const entries = await readEntries(createClient({ baseUrl: nodeUrls[0]! }), head!.treeSize)
  const sequence = entries.map((entry) => (JSON.parse(entry.toString()) as { seq: number }).seq)
  if (sequence.some((seq, i) => seq !== i + 1)) faults.push('The numbers of the log have gaps.')
  if (naiveRoot(entries).toString('base64') !== head!.rootHash) faults.push('The entries have another root.')
  for (const [size, root] of pick([...told.roots]))
    if (naiveRoot(entries.slice(0, size)).toString('base64') !== root)
      faults.push(`The log does not begin with the ${size} entries of a checkpoint that was answered.`)
  for (const [i, [name]] of pick([...told.published]).entries()) {
    const record = await readText(
      `${nodeUrls[i % nodeUrls.length]}/api/v1/skills/publisher%2F${name}/provenance?version=1.0.0`,
    )
    const report = verifyProvenance(JSON.parse(record), { keys: verifierKeys })
    if (!report.ok) faults.push(`${name}: ${report.problems[0]!.message}`)
  }
  return { entries: entries.length, faults }
}

async function findDiffering({ nodeUrls, told }: CompareOptions): Promise<string[]> {
  const names = pick([...told.published.keys()])
  const paths = [
    ...names.flatMap((name) => [`/skills/publisher%2F${name}`, `/skills/publisher%2F${name}/versions`]),
    '/skills?limit=50',
    '/skills?q=w1&limit=20',
    '/skills?sort=downloads',
    '/trending',
    '/key',
  ]
  const differing: string[] = []
  const endMs = performance.now() + hearingMs
  for (const path of paths) {
    const read = async () => new Set(await Promise.all(nodeUrls.map((url) => readAnswer(`${url}/api/v1${path}`))))
    let answers = await read()
    while (answers.size > 1 && performance.now() < endMs) {
      await setTimeout(pollMs)
      answers = await read()
    }
    if (answers.size > 1) differing.push(`${path}: ${[...answers].join('\n')}`)
  }
  return differing
}

async function readAnswer(url: string): Promise<string> {
  const answer = await fetch(url)
  // Remove the request ID, which differs for each problem response.
  const body = (await answer.text()).replace(/"requestId":"[^"]+"/, '')
  return `${answer.status} ${answer.headers.get('etag')} ${body}`
}

async function readText(url: string): Promise<string> {
  return (await fetch(url)).text()
}

/** Picks evenly spaced samples. */
function pick<T>(all: readonly T[]): T[] {
  const step = Math.max(1, Math.floor(all.length / samples))
  return all.filter((_, i) => i % step === 0)
}

import { join } from 'node:path'
import { localApi, type Registry, type RegistryOptions, systemCaller } from '@skillstead/core'
import {
  partsOf,
  type StorageContext,
  toSketch,
  newId,
  type SkillRow,
  type VersionRow,
} from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { sql } from 'kysely'
import { createBlob, putBlobs } from '../../packages/core/src/storage/blobs.ts'
import { warnOfCopies } from '../../packages/core/src/catalogue/copies/find-copies.ts'
import { importAll, readLines } from './copies.ts'
import { fromRows, type Figure } from './figures.ts'
import { seededRandom, type Random } from '../support/random.ts'
import { median, quantile } from './statistics.ts'
import { openRegistry } from '../support/open-registry.ts'

const insertedAtOnce = 100
const checks = 1000
/** How many words are changed: a text of its own on the same matter, and a copy. */
const changes = { 'a text of its own': 0.3, 'a copy': 0.05, 'another text': 1 }

/** Prints what the check at publish costs with this many versions, and what these take in the index. */
export async function benchScale(
  title: string,
  location: RegistryOptions,
  corpusDir: string,
  versions = 100_000,
): Promise<Figure[]> {
  const registry = await openRegistry({ ...location, works: false, memorySkillsMax: 0 })
  const corpus = readLines<{ skillMd: string }>(join(corpusDir, 'open.ndjson.gz'))
  await importAll(registry, corpus, 'c')
  const random = seededRandom(1)
  await cloneSkills(registry, corpus, { random, versions })
  await localApi(registry, systemCaller).createUser({ username: 'someone' })
  const user = await registry.getCaller('someone')
  const rows: Record<string, object> = {}
  for (const [kind, share] of Object.entries(changes)) {
    const sketching: number[] = []
    const checking: number[] = []
    let warned = 0
    for (let i = 0; i < checks; i++) {
      const skillMd = mutate(corpus[(i * 37) % corpus.length]!.skillMd, share, random)
      const bytes = Buffer.from(skillMd)
      const startMs = performance.now()
      const sketch = toSketch(bytes)
      const sketchedMs = performance.now()
      const publishing = { ownerId: user.userId, fullName: `someone/x${i}`, skillMd, sketch }
      warned += (await warnOfCopies(partsOf(registry), publishing, user)).length
      sketching.push(sketchedMs - startMs)
      checking.push(performance.now() - startMs)
    }
    rows[kind] = { sketch: round(median(sketching)), ...toFigures(checking), warned }
  }
  console.log(`\nCheck for copies at publish on ${title}, sketch and lookup (ms)`)
  console.table(rows)
  console.table(await readSizes(partsOf(registry)))
  await registry.close()
  const part = `The check for copies at publish with ${versions.toLocaleString('en')} versions, ${title}`
  return fromRows(part, rows, { column: 'median', unit: 'ms' })
}

/** Skills with one version, each an altered text of the corpus, without what copies do not need of them. */
async function cloneSkills(
  registry: Registry,
  corpus: readonly { skillMd: string }[],
  { random, versions }: { random: Random; versions: number },
) {
  const { read, writer } = partsOf(registry).database
  const [skill] = await read.selectFrom('skills').selectAll().limit(1).execute()
  const [version] = await read.selectFrom('versions').selectAll().where('skill_id', '=', skill!.id).execute()
  for (let made = corpus.length; made < versions; made += insertedAtOnce) {
    const texts = Array.from({ length: insertedAtOnce }, (_, k) =>
      mutate(corpus[(made + k) % corpus.length]!.skillMd, changes['a text of its own'], random),
    )
    const blobs = await Promise.all(texts.map((text) => createBlob(Buffer.from(text))))
    await writer.write(async (trx) => {
      await putBlobs(trx, blobs)
      for (const [k, blob] of blobs.entries()) {
        const rows = cloneRows(skill!, version!, made + k)
        await trx.insertInto('skills').values(rows.skill).execute()
        await trx.insertInto('versions').values(rows.version).execute()
        const file = { version_id: rows.version.id, path: 'SKILL.md', digest: blob.digest, size: blob.size }
        await trx.insertInto('version_files').values(file).execute()
        const sketch = toSketch(Buffer.from(texts[k]!))
        await partsOf(registry).copies.put(trx, { skillId: rows.skill.id, versionId: rows.version.id, sketch })
      }
    })
  }
}

function cloneRows(skill: SkillRow, version: VersionRow, i: number) {
  const { num: _num, ...rest } = skill
  const [id, name] = [newId(), `m${i}`]
  const cloned = { ...rest, id, name, full_name: `${skill.owner}/${name}` }
  return { skill: cloned, version: { ...version, id: newId(), skill_id: id, digest: toDigest(id) } }
}

/** So much of the words of a text becomes other words. */
function mutate(skillMd: string, share: number, random: Random): string {
  return skillMd.replace(/[a-z]{3,}/g, (word) =>
    random() < share ? `${word.slice(0, 2)}${Math.floor(random() * 1e6).toString(36)}` : word,
  )
}

async function readSizes({ database }: StorageContext) {
  const { read, dialect } = database
  const count = async (table: 'version_sketches' | 'shared_shingles') => {
    const { rows } = await read
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('rows'))
      .executeTakeFirstOrThrow()
    const size =
      dialect === 'sqlite'
        ? sql<{ bytes: number }>`select sum(pgsize) as bytes from dbstat where name like ${`%${table}%`}`
        : sql<{ bytes: number }>`select pg_total_relation_size(${table}) as bytes`
    const { bytes } = (await size.execute(read)).rows[0]!
    return { rows, bytes }
  }
  const sketches = await count('version_sketches')
  const shingles = await count('shared_shingles')
  const perVersion = (bytes: number) => Math.round(bytes / sketches.rows)
  return {
    version_sketches: { ...sketches, bytesPerVersion: perVersion(sketches.bytes) },
    shared_shingles: { ...shingles, bytesPerVersion: perVersion(shingles.bytes) },
  }
}

function toFigures(times: readonly number[]) {
  return { median: round(median(times)), p90: round(quantile(times, 0.9)), p99: round(quantile(times, 0.99)) }
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}

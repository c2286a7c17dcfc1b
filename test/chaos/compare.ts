import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { RegistryOptions } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { checkRegistry } from '@skillstead/maintenance'
import type { Author } from './author.ts'
import type { KnownBackup } from './backups.ts'
import { attemptsMax, type Receivers } from './receivers.ts'
import type { Trouble } from './trouble.ts'
import type { Witness } from './witness.ts'
import { openRegistry } from '../support/open-registry.ts'

type Location = Pick<RegistryOptions, 'path' | 'databaseUrl' | 'blobs'>

/** The stored versions by subject: the digest, and whether the skill was deleted. */
export type Stored = ReadonlyMap<string, { readonly digest: string; readonly isDeleted: boolean }>

/** The longest time without a new delivery before the wait ends. */
const patienceMs = 20_000

export function listStored(authors: readonly Author[]): Stored {
  return new Map(
    authors
      .flatMap(({ skills }) => skills)
      .flatMap(({ fullName, versions, isDeleted }) =>
        versions.map(({ version, digest }) => [`${fullName}@${version}`, { digest, isDeleted }] as const),
      ),
  )
}

/** Checks that the log contains exactly the stored versions. */
export function compareLog({ versions }: Witness, stored: Stored, trouble: Trouble): void {
  for (const [subject, { digest }] of stored) {
    const logged = versions.get(subject)
    if (logged !== digest) trouble.report(`the log has ${subject} with ${logged ?? 'no digest'}, not ${digest}`)
  }
  for (const subject of versions.keys()) {
    if (!stored.has(subject) && !subject.startsWith('steady/'))
      trouble.report(`the log has ${subject}, which is not stored`)
  }
}

/**
 * Waits until every receiver got every version, and reports missing or unknown ones and repeated event ids.
 * `jumpClock` makes the next attempt of pending deliveries due.
 */
export async function waitForDeliveries(
  receivers: Receivers,
  stored: Stored,
  trouble: Trouble,
  jumpClock: () => Promise<void>,
): Promise<void> {
  const listUndelivered = () =>
    [...receivers.taken].flatMap(([name, taken]) =>
      [...stored]
        .filter(([subject, { isDeleted }]) => !isDeleted && !taken.has(subject) && !receivers.isGivenUp(subject))
        .map(([subject]) => `${name} did not receive ${subject}`),
    )
  let undelivered = listUndelivered()
  for (let attempt = 1; undelivered.length > 0 && attempt <= attemptsMax; attempt++) {
    if (attempt > 1) await jumpClock()
    for (let sinceMs = performance.now(); undelivered.length > 0 && performance.now() - sinceMs < patienceMs;) {
      await setTimeout(100)
      const now = listUndelivered()
      if (now.length < undelivered.length) sinceMs = performance.now()
      undelivered = now
    }
  }
  for (const sentence of undelivered) trouble.report(sentence)
  for (const [name, taken] of receivers.taken) {
    for (const subject of taken.keys()) {
      if (!stored.has(subject)) trouble.report(`${name} received ${subject}, which is not stored`)
    }
  }
  for (const [subject, ids] of receivers.eventIds) {
    if (ids.size > 1) trouble.report(`${subject} was delivered with ${ids.size} event ids`)
  }
}

/** Checks the stopped registry and its backups with `doctor`. Returns the number of backups. */
export async function checkAtRest(location: Location, made: readonly KnownBackup[], trouble: Trouble): Promise<number> {
  await check('the registry', location, [], trouble)
  if (location.path === undefined) return 0
  const folder = join(dirname(location.path), 'backups')
  const names = readdirSync(folder)
  for (const { name } of made) if (!names.includes(name)) trouble.report(`the backup ${name} does not exist`)
  // The other backups were made on schedule.
  const copies = names.filter((name) => name.endsWith('.db'))
  for (const name of copies) {
    const versions = made.find((each) => each.name === name)?.versions ?? []
    await check(`the backup ${name}`, { ...location, path: join(folder, name) }, versions, trouble)
  }
  return copies.length
}

async function check(what: string, location: Location, wanted: readonly string[], trouble: Trouble): Promise<void> {
  const registry = await openRegistry({ ...location, works: false, memorySkillsMax: 0 })
  try {
    for (const { name, ok, detail } of await checkRegistry(registry, { deep: true })) {
      // The check of the free disk space does not concern the stored data.
      if (!ok && name !== 'disk') trouble.report(`${what}: ${name}: ${detail}`)
    }
    const rows = await partsOf(registry)
      .database.read.selectFrom('versions as v')
      .innerJoin('skills as s', 's.id', 'v.skill_id')
      .select(['s.full_name', 'v.version'])
      .execute()
    const there = new Set(rows.map(({ full_name, version }) => `${full_name}@${version}`))
    for (const version of wanted) if (!there.has(version)) trouble.report(`${what} lacks ${version}`)
  } finally {
    await registry.close()
  }
}

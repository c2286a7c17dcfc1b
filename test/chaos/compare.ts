import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { partsOf } from '@skillstead/core/internal'
import { checkRegistry } from '@skillstead/maintenance'
import type { Author } from './author.ts'
import type { KnownBackup } from './backups.ts'
import { attemptsMax, type Receivers } from './receivers.ts'
import type { Trouble } from './trouble.ts'
import type { Witness } from './witness.ts'
import { openRegistry } from '../support/open-registry.ts'

type Location = { readonly path: string } | { readonly databaseUrl: string }

/** What is stored: whether it can still be seen, and its digest, by subject. */
export type Stored = ReadonlyMap<string, { readonly digest: string; readonly isDeleted: boolean }>

/** How long deliveries may make no progress. */
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

/** The log holds what is stored, and nothing else was ever published. */
export function compareLog({ versions }: Witness, stored: Stored, trouble: Trouble): void {
  for (const [subject, { digest }] of stored) {
    const logged = versions.get(subject)
    if (logged !== digest) trouble.tell(`the log has ${subject} with ${logged ?? 'no digest'}, not ${digest}`)
  }
  for (const subject of versions.keys()) {
    if (!stored.has(subject) && !subject.startsWith('steady/'))
      trouble.tell(`the log has ${subject}, which is not stored`)
  }
}

/**
 * Every receiver is told of every version, under one event id, and of nothing else. `leap` brings the next attempt of what
 * still waits.
 */
export async function untilTold(
  receivers: Receivers,
  stored: Stored,
  trouble: Trouble,
  leap: () => Promise<void>,
): Promise<void> {
  const listUntold = () =>
    [...receivers.taken].flatMap(([name, taken]) =>
      [...stored]
        .filter(([subject, { isDeleted }]) => !isDeleted && !taken.has(subject) && !receivers.isGivenUp(subject))
        .map(([subject]) => `${name} was not told of ${subject}`),
    )
  let untold = listUntold()
  for (let attempt = 1; untold.length > 0 && attempt <= attemptsMax; attempt++) {
    if (attempt > 1) await leap()
    for (let sinceMs = performance.now(); untold.length > 0 && performance.now() - sinceMs < patienceMs;) {
      await setTimeout(100)
      const now = listUntold()
      if (now.length < untold.length) sinceMs = performance.now()
      untold = now
    }
  }
  for (const sentence of untold) trouble.tell(sentence)
  for (const [name, taken] of receivers.taken) {
    for (const subject of taken.keys()) {
      if (!stored.has(subject)) trouble.tell(`${name} was told of ${subject}, which is not stored`)
    }
  }
  for (const [subject, ids] of receivers.eventIds) {
    if (ids.size > 1) trouble.tell(`${subject} was told under ${ids.size} event ids`)
  }
}

/** Once nothing runs, nothing is wrong with the registry, nor with the copies that were made of it; how many there are. */
export async function checkAtRest(location: Location, made: readonly KnownBackup[], trouble: Trouble): Promise<number> {
  await check('the registry', location, [], trouble)
  if (!('path' in location)) return 0
  const folder = join(dirname(location.path), 'backups')
  const names = readdirSync(folder)
  for (const { name } of made) if (!names.includes(name)) trouble.tell(`the backup ${name} is not there`)
  // Those that nobody asked for were made on schedule.
  const copies = names.filter((name) => name.endsWith('.db'))
  for (const name of copies) {
    const versions = made.find((each) => each.name === name)?.versions ?? []
    await check(`the backup ${name}`, { path: join(folder, name) }, versions, trouble)
  }
  return copies.length
}

async function check(what: string, location: Location, wanted: readonly string[], trouble: Trouble): Promise<void> {
  const registry = await openRegistry({ ...location, works: false, memorySkillsMax: 0 })
  try {
    for (const { name, ok, detail } of await checkRegistry(registry, { deep: true })) {
      // How much room is left says nothing of what was done.
      if (!ok && name !== 'disk') trouble.tell(`${what}: ${name}: ${detail}`)
    }
    const rows = await partsOf(registry)
      .database.read.selectFrom('versions as v')
      .innerJoin('skills as s', 's.id', 'v.skill_id')
      .select(['s.full_name', 'v.version'])
      .execute()
    const there = new Set(rows.map(({ full_name, version }) => `${full_name}@${version}`))
    for (const version of wanted) if (!there.has(version)) trouble.tell(`${what} does not hold ${version}`)
  } finally {
    await registry.close()
  }
}

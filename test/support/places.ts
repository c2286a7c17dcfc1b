import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RegistryOptions } from '@skillstead/core'
import SqliteDatabase from 'better-sqlite3'
import { inject } from 'vitest'
import { createDatabase, takeDatabase } from './postgres-databases.ts'
import { openDatabase } from './open-registry.ts'

export type DialectName = 'SQLite' | 'PostgreSQL'

/** Where a test registry keeps everything: what `openRegistry` takes. */
export type Location = Pick<RegistryOptions, 'path' | 'databaseUrl'>

export interface Place {
  readonly location: Location
  remove(): Promise<void>
}

/** A database for one test: a file, or a copy of a migrated and empty database. */
export function makePlace(dialect: DialectName): Promise<Place> {
  return dialect === 'SQLite' ? makeFile() : makeDatabase()
}

/** As {@link makePlace}, with nothing in it, not even a schema. */
export async function makeEmptyPlace(dialect: DialectName): Promise<Place> {
  if (dialect === 'SQLite') return makeEmptyFile()
  const { databaseUrl, drop } = await createDatabase(inject('postgresUrl')!)
  return { location: { databaseUrl }, remove: drop }
}

async function makeEmptyFile(): Promise<Place & { location: { path: string } }> {
  const folder = await mkdtemp(join(tmpdir(), 'skillstead-test-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  return { location: { path: join(folder, 'skills.db') }, remove }
}

async function makeFile(): Promise<Place> {
  const place = await makeEmptyFile()
  await writeFile(place.location.path, await (fileTemplate ??= makeFileTemplate()))
  return place
}

let fileTemplate: Promise<Buffer> | undefined

/** A migrated and empty file, made once a worker: writing a copy takes a twentieth of the time of migrating. */
async function makeFileTemplate(): Promise<Buffer> {
  const { location, remove } = await makeEmptyFile()
  await (await openDatabase(location)).close()
  const database = new SqliteDatabase(location.path)
  const bytes = database.serialize()
  database.close()
  await remove()
  return bytes
}

async function makeDatabase(): Promise<Place> {
  const { databaseUrl, giveBack } = await takeDatabase(inject('postgresUrl')!)
  return { location: { databaseUrl }, remove: giveBack }
}

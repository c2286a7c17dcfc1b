import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RegistryOptions } from '@skillstead/core'
import SqliteDatabase from 'better-sqlite3'
import pg from 'pg'
import { inject } from 'vitest'
import { openDatabase } from '../packages/core/src/storage/database.ts'

export type DialectName = 'SQLite' | 'PostgreSQL'

/** Where a test registry keeps everything: what `openRegistry` takes. */
export type Location = Pick<RegistryOptions, 'path' | 'databaseUrl'>

export interface Place {
  readonly location: Location
  remove(): Promise<void>
}

/** A database that nobody else has: a file, or a copy of a migrated and empty one. */
export function makePlace(dialect: DialectName): Promise<Place> {
  return dialect === 'SQLite' ? makeFile() : makeDatabase()
}

/** As {@link makePlace}, with nothing in it, not even a schema. */
export async function makeEmptyPlace(dialect: DialectName): Promise<Place> {
  if (dialect === 'SQLite') return makeEmptyFile()
  const server = inject('postgresUrl')!
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await runSql(`${server}postgres`, `create database ${name}`)
  const remove = async () => void (await runSql(`${server}postgres`, `drop database ${name} with (force)`))
  return { location: { databaseUrl: server + name }, remove }
}

/** Runs a statement on a PostgreSQL database. */
async function runSql(databaseUrl: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query(text)
    return rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
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
  const server = inject('postgresUrl')!
  await (template ??= makeTemplate(server))
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await runSql(`${server}postgres`, `create database ${name} template ${templateName}`)
  const remove = async () => void (await runSql(`${server}postgres`, `drop database ${name} with (force)`))
  return { location: { databaseUrl: server + name }, remove }
}

const templateName = 'skillstead_template'
let template: Promise<void> | undefined

/** Made by the first process of the run that needs it; a copy is ten times as fast as migrating. */
async function makeTemplate(server: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${server}postgres` })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock(7545)')
    const { rows } = await client.query('select 1 from pg_database where datname = $1', [templateName])
    if (rows.length > 0) return
    await client.query('create database skillstead_migrating')
    const database = await openDatabase({ databaseUrl: `${server}skillstead_migrating` })
    await database.close()
    await client.query(`alter database skillstead_migrating rename to ${templateName}`)
  } finally {
    await client.end()
  }
}

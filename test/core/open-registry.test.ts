import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { isRegistryError, localApi, openRegistry, systemCaller, type RegistryOptions } from '@skillstead/core'
import { describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeFolder } from '../support/cli-harness.ts'

const refusalOf = async (options: RegistryOptions) => {
  const error: unknown = await openRegistry({ works: false, ...options }).catch((reason: unknown) => reason)
  return isRegistryError(error) ? [error.code, error.message] : error
}

describe('opening a registry', () => {
  it('creates the file, unless the mode is `write`, which requires an existing file', async () => {
    const path = join(await makeFolder(), 'skills.db')
    expect(await refusalOf({ path, mode: 'write' })).toEqual([
      'no_registry',
      `There is no registry at ${path}. Check the path; the mode 'create' creates a registry.`,
    ])
    await (await openRegistry({ path })).close()
    await (await openRegistry({ path, mode: 'write' })).close()
  })

  it('rejects a file that is no database, and the database of another program, without changing them', async () => {
    const folder = await makeFolder()
    const text = join(folder, 'text.db')
    writeFileSync(text, 'These are notes. '.repeat(100))
    expect(await refusalOf({ path: text })).toEqual([
      'not_a_registry',
      `${text} is not a registry (file is not a database).`,
    ])
    const other = join(folder, 'other.db')
    const database = new SqliteDatabase(other)
    database.exec('create table notes (text text)')
    database.close()
    expect(await refusalOf({ path: other })).toEqual([
      'not_a_registry',
      'The database belongs to another program. Pass the path of a registry.',
    ])
    const tables = new SqliteDatabase(other, { readonly: true })
    expect(tables.prepare('select name from sqlite_master').pluck().all()).toEqual(['notes'])
    tables.close()
  })

  it('rejects a folder in each mode', async () => {
    const folder = await makeFolder()
    for (const mode of ['create', 'write', 'read'] as const) {
      const refusal = ['not_a_registry', `${folder} is a folder, not a registry. Pass the path of a file.`]
      expect([mode, await refusalOf({ path: folder, mode })]).toEqual([mode, refusal])
    }
  })

  it('rejects a damaged file and a file of a newer release', async () => {
    const path = join(await makeFolder(), 'skills.db')
    await (await openRegistry({ path, works: false })).close()
    const newer = new SqliteDatabase(path)
    newer.exec("insert into migrations (name, position) values ('9999-later', 9999)")
    newer.close()
    expect(await refusalOf({ path })).toEqual(['newer_schema', expect.stringContaining('Update this program')])
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(7, 100, 4096))
    expect(await refusalOf({ path })).toEqual(['damaged', expect.stringContaining(`${path} is damaged.`)])
  })
})

describe('a closed registry', () => {
  it('rejects each call with `closed`, however it was closed', async () => {
    let leaked
    {
      await using registry = await openRegistry({ path: ':memory:' })
      const { key } = await localApi(registry, systemCaller).createUser({ username: 'alice' })
      leaked = { registry, key, api: localApi(registry, await registry.getCaller('alice')) }
    }
    const { registry, key, api } = leaked
    const calls = {
      read: () => api.searchSkills({ q: 'tea' }),
      write: () => api.publishSkill({ skillMd: skillMd('tea') }),
      authenticate: () => registry.authenticate(key),
      authenticateSession: () => registry.authenticateSession('x'),
      getCaller: () => registry.getCaller('alice'),
      verifierKeys: () => registry.verifierKeys(),
      readiness: () => registry.readiness(),
      metrics: () => registry.metrics(),
    }
    for (const [name, call] of Object.entries(calls)) {
      const error: unknown = await call().catch((reason: unknown) => reason)
      expect([name, isRegistryError(error, 'closed')]).toEqual([name, true])
    }
    await registry.close()
  })

  it('lets calls finish that began before, or rejects them with `closed`', async () => {
    const registry = await openRegistry({ path: ':memory:' })
    await localApi(registry, systemCaller).createUser({ username: 'alice' })
    const api = localApi(registry, await registry.getCaller('alice'))
    const calls = Array.from({ length: 20 }, (_, i) =>
      api.publishSkill({ skillMd: skillMd(`tea-${i}`) }).then(
        () => 'done',
        (error: unknown) => (isRegistryError(error) ? error.code : error),
      ),
    )
    await registry.close()
    for (const outcome of await Promise.all(calls)) expect(['done', 'closed']).toContain(outcome)
  })
})

describe('isRegistryError', () => {
  it('recognises errors of another copy of the package, and their code', async () => {
    const url = new URL('../../packages/protocol/src/errors.ts?copy', import.meta.url).href
    const copy = (await import(url)) as typeof import('@skillstead/protocol')
    const error = new copy.RegistryError('not_found', 'There is no skill.')
    expect([isRegistryError(error), isRegistryError(error, 'not_found'), isRegistryError(error, 'closed')]).toEqual([
      true,
      true,
      false,
    ])
    for (const other of [new Error('x'), { code: 'not_found' }, null, 'not_found']) {
      expect(isRegistryError(other)).toBe(false)
    }
  })
})

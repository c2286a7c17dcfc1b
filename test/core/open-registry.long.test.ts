import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { isRegistryError, openRegistry } from '@skillstead/core'
import { expect, it } from 'vitest'
import { makeFolder } from '../support/cli-harness.ts'

it('opening a registry that another process holds is rejected with `locked` after about ten seconds', async () => {
  const path = join(await makeFolder(), 'skills.db')
  await (await openRegistry({ path, works: false })).close()
  const holder = new SqliteDatabase(path)
  holder.exec('begin exclusive')
  const error: unknown = await openRegistry({ path, works: false }).catch((reason: unknown) => reason)
  expect(isRegistryError(error, 'locked')).toBe(true)
  holder.close()
  await (await openRegistry({ path, works: false })).close()
})

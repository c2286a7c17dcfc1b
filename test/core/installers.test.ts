import { guest, localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { expect, it } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
import { describeApi, type Open } from '../support/harness.ts'
import { advanceFar } from '../support/outbox-acts.ts'

const dayMs = 24 * 60 * 60 * 1000

async function openNode(open: Open, recordInstallers?: boolean) {
  const test = await open(recordInstallers === undefined ? {} : { recordInstallers })
  const alice = await test.makeUser('alice')
  for (const name of ['bob', 'carol']) await test.makeUser(name)
  for (const version of ['1.0.0', '1.1.0']) await alice.api.publishSkill({ skillMd: skillMd('tool'), version })
  const { counters, database } = partsOf(test.registry)
  return {
    test,
    alice,
    /** Reads a version as a user behind one shared address. */
    async read(username: string | undefined, version: string, kind: 'cli' | 'api' | 'git' = 'cli') {
      const caller = username === undefined ? guest : await test.registry.getCaller(username)
      await localApi(test.registry, caller, { kind, address: '192.0.2.1' }).getSkillMd({ name: 'alice/tool', version })
      await counters.flush()
    },
    countRows: async () => (await database.read.selectFrom('installers').selectAll().execute()).length,
  }
}

describeApi('the users who installed a skill', (open) => {
  it('are shown to the owner of the skill with their last version and day, if the operator enables this', async () => {
    const { test, alice, read, countRows } = await openNode(open, true)
    expect(await alice.api.listInstallers({ name: 'tool' })).toMatchObject({ recorded: true, installers: [], total: 0 })
    await read('bob', '1.0.0')
    // The second user of an address and day is no further install, but another user.
    await read('carol', '1.0.0', 'git')
    test.clock.advance(dayMs)
    await read('bob', '1.1.0')
    for (const [username, kind] of [
      [undefined, 'cli'],
      ['alice', 'cli'],
      [test.admin.username, 'api'],
    ] as const)
      await read(username, '1.0.0', kind)
    expect(await alice.api.listInstallers({ name: 'tool' })).toMatchObject({
      installers: [
        { username: 'bob', version: '1.1.0', day: '2026-01-03' },
        { username: 'carol', version: '1.0.0', day: '2026-01-02' },
      ],
      total: 2,
    })
    expect((await alice.api.listInstallers({ name: 'tool', limit: 1, page: 2 })).installers).toMatchObject([
      { username: 'carol' },
    ])
    expect(await codeOf(test.api('bob').listInstallers({ name: 'tool' }))).toBe('forbidden')
    expect(await codeOf(test.admin.api.listInstallers({ name: 'tool' }))).toBe('forbidden')
    expect(await codeOf(test.api().listInstallers({ name: 'tool' }))).toBe('unauthorized')

    await test.admin.api.updateUser({ username: 'carol', disabled: true })
    await read('bob', '1.0.0')
    expect((await alice.api.listInstallers({ name: 'tool' })).installers).toEqual([
      { username: 'bob', version: '1.0.0', day: '2026-01-03' },
    ])
    await advanceFar(test, 400 * dayMs)
    await expect.poll(countRows).toBe(0)
  })

  it('are not stored by default', async () => {
    const { alice, read, countRows } = await openNode(open)
    await read('bob', '1.0.0')
    expect(await countRows()).toBe(0)
    expect(await alice.api.listInstallers({ name: 'tool' })).toMatchObject({ recorded: false, installers: [] })
  })

  it('are deleted when the operator disables the option', async () => {
    const { test, read, countRows } = await openNode(open, false)
    await read('bob', '1.0.0')
    const { database } = partsOf(test.registry)
    await database.writer.write((trx) =>
      trx
        .insertInto('installers')
        .columns(['skill_id', 'user_id', 'version', 'day'])
        .expression((eb) =>
          eb
            .selectFrom('skills')
            .innerJoin('users', 'users.username', 'skills.owner')
            .select((of) => [
              'skills.id',
              'users.id as user_id',
              of.val('1.0.0').as('version'),
              of.val(20_000).as('day'),
            ]),
        )
        .execute(),
    )
    expect(await countRows()).toBe(1)
    await advanceFar(test, 2 * dayMs)
    await expect.poll(countRows).toBe(0)
  })
})

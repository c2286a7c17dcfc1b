import { guest, localApi } from '@skillstead/core'
import pg from 'pg'
import { expect, it, vi } from 'vitest'
import { describeDatabases } from '../support/harness.ts'

describeDatabases('details that are requested at the same time', (open, dialect) => {
  it('are returned for each skill, with not_found for unknown and private skills', async () => {
    const { registry, makeUser } = await open({ answerBytesMax: 0 })
    const { username } = await makeUser()
    const own = localApi(registry, await registry.getCaller(username))
    const names = ['one', 'two', 'three', 'closed']
    for (const name of names)
      await own.publishSkill({
        visibility: name === 'closed' ? 'private' : 'public',
        skillMd: `---\nname: ${name}\ndescription: The skill ${name}.\n---\nText of ${name}.\n`,
      })
    const send = vi.spyOn(pg.Client.prototype, 'query')
    const wanted = ['one', 'missing', 'two', 'closed', 'one', 'three'].map((name) => `${username}/${name}`)
    const read = await Promise.allSettled(wanted.map((name) => localApi(registry, guest).getSkill({ name })))
    const statements = send.mock.calls.filter(([query]) => JSON.stringify(query).includes('skill_documents'))
    send.mockRestore()
    const shown = read.map((one) => (one.status === 'fulfilled' ? one.value.description : one.reason.code))
    expect(shown).toEqual([
      'The skill one.',
      'not_found',
      'The skill two.',
      'not_found',
      'The skill one.',
      'The skill three.',
    ])
    expect(statements).toHaveLength(dialect === 'PostgreSQL' ? 1 : 0)
  })
})

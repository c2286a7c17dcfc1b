import { join } from 'node:path'
import { localApi, systemCaller } from '@skillstead/core'
import { beforeAll, describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeFolder, skillstead, skillsteadJson, startServer } from '../support/cli-harness.ts'
import { openRegistry } from '../support/open-registry.ts'

describe('the administrator commands for skill requests and reports', () => {
  let data: string
  let key: string
  let report: string
  beforeAll(async () => {
    data = join(await makeFolder(), 'data')
    key = (await skillsteadJson<{ key: string }>(['users', 'create', 'root', '--data', data])).key
    const registry = await openRegistry({ path: join(data, 'skillstead.db') })
    const system = localApi(registry, systemCaller)
    await system.createUser({ username: 'alice' })
    await system.createUser({ username: 'bob' })
    const alice = localApi(registry, await registry.getCaller('alice'))
    const bob = localApi(registry, await registry.getCaller('bob'))
    await alice.publishSkill({ skillMd: skillMd('faxes') })
    const wanted = await alice.createRequest({ title: 'Second\u001B[2J by\nvotes', description: '' })
    const done = await bob.createRequest({ title: 'Most wanted', description: '' })
    for (const api of [alice, bob]) await api.voteForRequest({ id: done.id })
    await alice.voteForRequest({ id: wanted.id })
    await bob.updateRequest({ id: done.id, status: 'fulfilled', fulfilledBy: 'faxes' })
    report = (await bob.reportSkill({ name: 'faxes', reason: 'spam', details: 'So\u001B[1A it\nseems.' })).id
    await registry.close()
  })

  const at = (...args: string[]) => [...args, '--data', data]

  it('list requests by votes, without terminal control characters', async () => {
    const { stdout, code } = await skillstead(at('requests'))
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /fulfilled {4}▲2 {2}Most wanted\n {2}fulfilled by alice\/faxes\n.*open.*▲1 {2}Second\[2J by votes\n2 of 2\.\n$/,
    )
    expect(stdout).not.toContain('\u001B')
    const recent = await skillsteadJson<{ requests: { title: string }[] }>(at('requests', '--sort', 'recent'))
    expect(recent.requests.map(({ title }) => title)).toEqual(['Most wanted', 'Second[2J by\nvotes'])
    expect(await skillsteadJson(at('requests', '--status', 'closed'))).toMatchObject({ requests: [], total: 0 })
  })
  it('list reports, uphold a report, which hides its skill, and refuse to decide the report twice', async () => {
    const listed = await skillstead(at('reports', 'list', '--status', 'open'))
    expect(listed.stdout).toBe(`${report}  report  open       alice/faxes\n  bob: spam So [1A it seems.\n1 of 1.\n`)
    const decided = await skillstead(at('reports', 'decide', report, 'upheld', '--note', 'It is spam.'))
    expect(decided).toEqual({ code: 0, stdout: 'The report about alice/faxes is upheld.\n', stderr: '' })
    const again = await skillstead(at('reports', 'decide', report, 'dismissed'))
    expect(again).toMatchObject({ code: 1, stdout: '' })
    expect(again.stderr).toContain('already decided')
    expect((await skillstead(at('search', 'faxes'))).stdout).toBe('0 found.\n')
  })

  it('uphold the appeal of an owner, which makes the hidden skill visible again', async () => {
    const registry = await openRegistry({ path: join(data, 'skillstead.db') })
    const alice = localApi(registry, await registry.getCaller('alice'))
    const { id } = await alice.appealModeration({ name: 'faxes', statement: 'It is not.' })
    await registry.close()
    expect(await skillsteadJson(at('reports', 'list', '--kind', 'appeal'))).toMatchObject({
      reports: [{ id, kind: 'appeal', details: 'It is not.', reporter: { username: 'alice' } }],
      total: 1,
    })
    expect(await skillsteadJson(at('reports', 'decide', id, 'upheld'))).toMatchObject({
      id,
      status: 'upheld',
      note: '',
    })
    expect((await skillstead(at('search', 'faxes'))).stdout).toContain('1 found.')
  })

  it('moderate a skill in a data folder and on a running node', async () => {
    const flagged = await skillstead(at('skills', 'moderate', 'alice/faxes', 'flagged', '--reason', 'Look out.'))
    expect(flagged).toEqual({ code: 0, stdout: 'alice/faxes is flagged.\n', stderr: '' })
    const server = await startServer(['serve', '--port', '0', '--data', data])
    const there = ['--url', server.url, '--key', key]
    const shown = ['skills', 'moderate', 'faxes', 'shown', '--reason', 'All is well.']
    expect(await skillsteadJson([...shown, ...there])).toMatchObject({
      skill: { fullName: 'alice/faxes' },
      state: 'shown',
      reason: 'All is well.',
    })
    const guest = await skillstead([...shown, '--url', server.url])
    expect(guest).toMatchObject({ code: 1, stdout: '' })
    await server.stop()
  })

  it.each([
    [
      ['requests', '--status', 'done'],
      "'done' is not a valid value of --status. Use one of open, in_progress, fulfilled, closed.",
    ],
    [['requests', '--sort', 'age'], "'age' is not a valid value of --sort"],
    [['reports', 'list', '--kind', 'rumour'], "'rumour' is not a valid value of --kind. Use one of report, appeal."],
    [['reports', 'decide', 'x'], 'VERDICT is missing'],
    [['reports', 'decide', 'x', 'open'], "'open' is not a valid VERDICT. Use one of upheld, dismissed."],
    [['skills', 'moderate', 'x', 'gone', '--reason', 'x'], "'gone' is not a valid STATE"],
    [['skills', 'moderate', 'x', 'hidden'], 'The reason is missing. Pass --reason TEXT.'],
  ])('%j is a usage error in one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await skillstead(at(...args))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
  })

  it('print one sentence if the given report or skill does not exist', async () => {
    for (const args of [
      ['reports', 'decide', 'nothing', 'upheld'],
      ['skills', 'moderate', 'nothing', 'hidden', '--reason', 'x'],
    ])
      expect(await skillstead(at(...args))).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^There is no .*\.\n$/),
      })
  })
})

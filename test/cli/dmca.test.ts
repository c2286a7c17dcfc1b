import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import type { DmcaCase } from '@skillstead/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeFolder, skillstead, skillsteadJson, startServer, type Running } from '../support/cli-harness.ts'
import { counterNotice, notice } from '../support/dmca-cases.ts'

describe('the commands about takedowns', () => {
  let data: string
  let keys: { alice: string; bob: string }
  let node: Running
  let places: Record<string, string[]>
  beforeAll(async () => {
    data = join(await makeFolder(), 'data')
    const make = async (name: string) =>
      (await skillsteadJson<{ key: string }>(['users', 'create', name, '--data', data])).key
    keys = { alice: await make('alice'), bob: await make('bob') }
    node = await startServer(['serve', '--port', '0', '--data', data])
    await api(keys.bob).publishSkill({ skillMd: skillMd('rose') })
    places = { 'on files': ['--data', data], 'on a node': ['--url', node.url, '--key', keys.alice] }
  })
  afterAll(async () => {
    await node?.stop()
  })

  const api = (key?: string) => createClient({ baseUrl: node.url, apiKey: key })
  const submit = (words: string = notice.workDescription) =>
    api().submitDmca({ skillName: 'bob/rose', ...notice, workDescription: words })

  const remove = (id: string) => api(keys.alice).updateDmca({ id, status: 'removed' })

  describe.each(['on files', 'on a node'])('%s', (where) => {
    it('list takedown cases with the affected skill, without the name of the claimant', async () => {
      const { id } = await submit()
      const { stdout } = await skillstead(['dmca', 'list', '--status', 'submitted', ...places[where]!])
      expect(stdout).toMatch(new RegExp(`${id}  submitted .*  bob/rose\n`))
      expect(stdout).not.toContain(notice.claimantName)
      const { cases, total } = await skillsteadJson<{ cases: DmcaCase[]; total: number }>([
        ...(['dmca', 'list', '--status', 'upheld'] as const),
        ...places[where]!,
      ])
      expect({ count: cases.length, others: cases.filter(({ status }) => status !== 'upheld') }).toEqual({
        count: total,
        others: [],
      })
    })

    it('show a takedown case with all statements', async () => {
      const { id } = await submit()
      await remove(id)
      await api().submitCounterNotice({ id, ...counterNotice })
      const { stdout } = await skillstead(['dmca', 'show', id, ...places[where]!])
      for (const text of [
        notice.claimantName,
        notice.claimantEmail,
        counterNotice.statement,
        'the sender is not confirmed',
      ])
        expect(stdout).toContain(text)
    })

    it('decide takedown cases and print the consequence of each decision', async () => {
      const { id } = await submit()
      const removed = await skillsteadJson<DmcaCase>([
        ...(['dmca', 'decide', id, 'removed', '--note', 'Looks right.'] as const),
        ...places[where]!,
      ])
      expect(removed).toMatchObject({ id, status: 'removed', history: [{}, { note: 'Looks right.' }] })
      for (let i = 0; i < 2; i++) await api().submitCounterNotice({ id, ...counterNotice })
      const waiting = (await api(keys.alice).getDmca({ id })).counterNotices!
      const confirmed = await skillstead([
        ...(['dmca', 'decide', id, 'counter_noticed', '--counter-notice', waiting[0]!.id] as const),
        ...places[where]!,
      ])
      expect(confirmed.stdout).toMatch(
        /bob\/rose is counter_noticed\.\nThe skill is restored on .* unless a court action is recorded/,
      )
      expect((await api(keys.alice).getDmca({ id })).counterNotices).toMatchObject([{ id: waiting[0]!.id }])
    })
  })

  it('report the failure of a command in one sentence', async () => {
    const { id } = await submit()
    expect(await skillstead(['dmca', 'decide', id, 'gone', ...places['on files']!])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining("'gone' is not a valid STATUS. Use one of submitted, under_review,"),
    })
    expect(await skillstead(['dmca', 'decide', id, 'restored', ...places['on files']!])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('This case is submitted and cannot become restored.'),
    })
    expect(await skillstead(['dmca', 'decide', id, ...places['on files']!])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('STATUS is missing'),
    })
    expect((await api(keys.alice).getDmca({ id })).status).toBe('submitted')
  })

  it('refuse users who are not administrators, and disclose no names to them', async () => {
    const { id } = await submit()
    const asBob = ['--url', node.url, '--key', keys.bob]
    for (const words of [['list'], ['decide', id, 'rejected']]) {
      const { code, stdout, stderr } = await skillstead(['dmca', ...words, ...asBob])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain('administrators')
    }
    const shown = await skillstead(['dmca', 'show', id, ...asBob])
    expect(shown.stdout).toContain('submitted')
    expect(shown.stdout).not.toContain('Clara')
    expect(shown.stdout).not.toContain('bob/rose')
  })

  it('print untrusted text on one line, without terminal control characters', async () => {
    const { id } = await submit('First.\n  status  rejected\u001B[2J\u202Eend')
    const { stdout } = await skillstead(['dmca', 'show', id, ...places['on files']!])
    expect(stdout).toMatch(/workDescription\s+First. status rejected \[2J end\n/)
    for (const control of ['\u001B', '\u202E']) expect(stdout).not.toContain(control)
  })
})

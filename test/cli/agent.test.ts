import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { localApi, systemCaller } from '@skillstead/core'
import type { LoadedSkill } from '@skillstead/skill-format/loading'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeFolder, skillstead, skillsteadJson, startServer, type Running } from '../support/cli-harness.ts'
import { openRegistry } from '../support/open-registry.ts'

const long = `---
name: long
description: Knows much.
---
# Long

It says\u001B[2J a lot.\u202E

## First

${'One two three. '.repeat(40)}

## Second

Kept to the end.
`

describe('the commands that prepare skills for agents', { timeout: 180_000 }, () => {
  let server: Running
  let project: string
  let digest: string
  let ways: [string, string[]][]
  beforeAll(async () => {
    const data = join(await makeFolder(), 'data')
    const { key } = await skillsteadJson<{ key: string }>(['users', 'create', 'alice', '--data', data])
    const registry = await openRegistry({ path: join(data, 'skillstead.db') })
    const alice = localApi(registry, await registry.getCaller('alice'))
    digest = (await alice.publishSkill({ skillMd: skillMd('faxes') })).version.digest
    await alice.publishSkill({ skillMd: skillMd('gone') })
    await alice.publishSkill({ skillMd: long })
    await localApi(registry, systemCaller).moderateSkill({ name: 'gone', state: 'flagged', reason: 'It does harm.' })
    await registry.close()
    server = await startServer(['serve', '--port', '0', '--data', data])
    project = await makeFolder()
    ways = [
      ['over HTTP', ['--url', server.url, '--key', key]],
      ['on files', ['--data', data]],
    ]
  })
  afterAll(() => server.stop())

  async function lock(skills: object) {
    await writeFile(join(project, 'skills.lock'), JSON.stringify({ version: 1, skills }))
    await mkdir(join(project, '.agents/skills/faxes'), { recursive: true })
    await writeFile(join(project, '.agents/skills/faxes/SKILL.md'), skillMd('faxes'))
  }
  const locked = (name: string, source: string) => ({
    version: '1.0.0',
    digest,
    source,
    targets: [`.agents/skills/${name}`],
  })

  it('create, change and delete packs', async () => {
    const [[, at]] = ways as [[string, string[]]]
    const pack = (...args: string[]) => skillstead(['pack', ...args, ...at])
    const made = await pack('create', 'office', 'alice/long@1.0.0', 'faxes')
    expect(made.stdout).toContain('Created the pack office: 2 skills')
    await pack('add', 'office', 'long', '--note', 'For\u001B[2J talks')
    expect((await pack('show', 'office')).stdout).toMatch(
      /\n {2}alice\/long@1\.0\.0 \(pinned\) {2}For\[2J talks\n {2}alice\/faxes@1\.0\.0\n$/,
    )
    const slip = await pack('remove', 'office', 'nothing')
    expect(slip).toMatchObject({ code: 1, stderr: expect.stringContaining('is not in the pack') })
    expect((await pack('remove', 'office', 'faxes')).stdout).toContain('has 1 skill,')
    expect((await pack('list')).stdout).toMatch(/1 skill, by alice\n.*\n1 of 1\.\n$/)
    expect((await pack('delete', 'office')).stdout).toContain('Its skills are unchanged.')
    expect(await pack('show', 'office')).toMatchObject({ code: 1, stdout: '' })
  })

  it('create a pack in a data folder for the user given by --user', async () => {
    const [, [, at]] = ways as [unknown, [string, string[]]]
    const create = ['pack', 'create', 'on-files', 'faxes', ...at]
    expect(await skillstead(create)).toMatchObject({ code: 2, stderr: expect.stringContaining('--user NAME') })
    expect(await skillsteadJson([...create, '--user', 'alice'])).toMatchObject({ slug: 'on-files', skillCount: 1 })
  })

  it('load a skill at a given level and token budget, and print it without terminal control characters', async () => {
    for (const [way, at] of ways) {
      const whole = await skillstead(['load', 'long@1.0.0', ...at])
      expect(whole, way).toMatchObject({ code: 0, stderr: '' })
      expect(whole.stdout, way).toBe(long.replace('\u001B', '').replace('\u202E', ''))
      const cut = await skillstead(['load', 'long', '--max-tokens', '30', '--priority', 'Second', ...at])
      expect(cut.stdout, way).toContain('Kept to the end.')
      expect(cut.stdout, way).not.toContain('One two three')
      expect(cut.stderr, way).toMatch(/^Omitted: .*First \(\d+ tokens\)/)
      const read = await skillsteadJson<LoadedSkill>(['load', 'long', '--level', 'summary', ...at])
      expect(read, way).toMatchObject({ level: 'summary', metadata: { fullName: 'alice/long' } })
      expect(read, way).not.toHaveProperty('fullContent')
    }
    const [, [, at]] = ways as [unknown, [string, string[]]]
    expect((await skillstead(['load', 'long', '--level', 'contract', ...at])).stdout).toContain(
      '  inputs      not given\n',
    )
    expect(await skillstead(['load', 'long', '--level', 'most', ...at])).toMatchObject({ code: 2, stdout: '' })
    expect(await skillstead(['load', 'long', '--max-tokens', '1', ...at])).toMatchObject({
      code: 0,
      stdout: '\n',
      stderr: expect.stringMatching(/^Omitted: /),
    })
  })

  it('send a registry only the names of its own skills, and fail if the registry flagged an installed skill', async () => {
    const [[, at]] = ways as [[string, string[]]]
    await lock({
      'alice/faxes': locked('faxes', server.url),
      'carol/secret-plans': locked('secret-plans', 'https://elsewhere.example'),
    })
    const fine = await skillstead(['heartbeat', ...at], { cwd: project })
    expect(fine).toMatchObject({ code: 0, stderr: '' })
    expect(fine.stdout).toContain(
      'Other skills are from https://elsewhere.example: skillstead heartbeat --url https://elsewhere.example\n',
    )
    expect(fine.stdout).toMatch(/1 skills checked, 0 with news\. Ask again in 60 minutes\.\n$/)
    expect(fine.stdout).not.toContain('secret-plans')

    await lock({
      'alice/faxes': locked('faxes', server.url),
      'alice/gone': locked('gone', server.url),
      'alice/long': locked('long', server.url),
    })
    await writeFile(join(project, '.agents/skills/faxes/SKILL.md'), 'Altered.')
    await mkdir(join(project, '.agents/skills/gone'), { recursive: true })
    await writeFile(join(project, '.agents/skills/gone/SKILL.md'), skillMd('gone'))
    const { code, stdout } = await skillstead(['heartbeat', '--json', ...at], { cwd: project })
    expect(code).toBe(1)
    const read = JSON.parse(stdout) as { updates: { fullName: string; reason: string }[] }
    expect(read.updates.map(({ fullName, reason }) => [fullName, reason])).toEqual([
      ['alice/faxes', 'drifted'],
      ['alice/gone', 'flagged'],
    ])
    expect(read).toMatchObject({ asked: 2, missing: ['alice/long'], elsewhere: [] })
    await rm(join(project, '.agents'), { recursive: true })
  })

  it('show which given or installed skills fit into the size limit of the skill listing of an agent', async () => {
    const [[, at]] = ways as [[string, string[]]]
    const fits = await skillstead(['plan', 'long', 'faxes', 'long', ...at])
    expect(fits).toMatchObject({ code: 0, stderr: '' })
    expect(fits.stdout).toMatch(
      /^The listing takes \d+ of 8000 characters\.\n {2}keep {5}alice\/long {2}15\n {2}keep {5}alice\/faxes /,
    )
    const tight = await skillsteadJson<{ drop: object[] }>(['plan', 'long', ...at])
    expect(tight.drop).toEqual([])
    await lock({ 'alice/faxes': locked('faxes', server.url) })
    const dropped = await skillstead(['plan', '--budget', '5'], { cwd: project })
    expect(dropped.code).toBe(1)
    expect(dropped.stdout).toMatch(/ {2}drop {5}alice\/faxes {2}\d+\n {11}\S/)
    expect(await skillstead(['plan', '--budget', '-1'], { cwd: project })).toMatchObject({ code: 2, stdout: '' })
    expect(await skillstead(['plan'], { cwd: await makeFolder() })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No skills are installed here'),
    })
  })
})

import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RegistryApi } from '@skillstead/protocol'
import { makeProject, type InstalledAnswer, type Project } from '../support/install-harness.ts'
import { openPlain } from '../support/outside.ts'
import { startNode } from '../support/server-harness.ts'

const toSkillMd = (version: string) => `---\nname: tool\ndescription: A tool\n---\nVersion ${version}.\n`
const reason = 'It deletes the home folder.'

/** A node with three versions of `alice/tool`, and a project. */
async function start() {
  const fixture = await startNode()
  const { api, node } = fixture
  for (const version of ['1.0.0', '1.1.0', '2.0.0']) await api.publishSkill({ skillMd: toSkillMd(version), version })
  const project = await makeProject()
  const recall = (range: string) => api.recallSkill({ name: 'alice/tool', range, reason })
  const install = (...words: string[]) => project.run('install', ...words, '--url', node.url)
  const read = async () => (await project.files())['.agents/skills/tool/SKILL.md']
  return { ...fixture, project, recall, install, read }
}

/** Adds a skill with the content of `alice/tool` to the lock, from another registry. */
async function lockFrom(project: Project, fullName: string, source: string): Promise<void> {
  const file = join(project.folder, 'skills.lock')
  const lock = JSON.parse(await readFile(file, 'utf8')) as { skills: Record<string, object> }
  const targets = [`.agents/skills/${fullName.split('/')[1]}`]
  lock.skills[fullName] = { ...lock.skills['alice/tool'], source, targets }
  await writeFile(file, JSON.stringify(lock))
}

/** A registry that answers every heartbeat with these rows; its URL. */
async function startForged(updates: readonly object[]): Promise<string> {
  const { port, close } = await openPlain((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ updates, unknown: [], recommendations: [], nextHeartbeatSeconds: 60 }))
  })
  onTestFinished(close)
  return `http://127.0.0.1:${port}`
}

const toPrivate = (api: RegistryApi) => api.publishSkill({ name: 'tool', visibility: 'private' })
const remove = (api: RegistryApi) => api.deleteSkill({ name: 'alice/tool' })
const hide = (api: RegistryApi) => api.moderateSkill({ name: 'alice/tool', state: 'hidden', reason: 'Malware.' })

const toRow = (skillName: string, reported: object) => ({
  skillName,
  fullName: skillName,
  installedVersion: '2.0.0',
  latestVersion: '',
  message: 'Stop using it.',
  deprecationMessage: '',
  replacement: null,
  widens: null,
  ...reported,
})

describe('`install`', () => {
  it('refuses a recalled version with the reason, unless it is named exactly with --allow-recalled', async () => {
    const { install, project, recall, read } = await start()
    await recall('2.x')
    const refused = await install('alice/tool@2.0.0')
    expect([refused.code, await read()]).toEqual([1, undefined])
    expect(refused.stderr).toContain('alice/tool@2.0.0 was recalled (2.x): It deletes the home folder.')
    expect(refused.stderr).toContain('--allow-recalled')
    for (const words of [['alice/tool'], []]) {
      const usage = await install(...words, '--allow-recalled')
      expect([usage.code, usage.stderr.includes('exact version')]).toEqual([2, true])
    }
    expect((await install('alice/tool')).code).toBe(0)
    expect(await read()).toBe(toSkillMd('1.1.0'))
    const allowed = await install('tool@2.0.0', '--allow-recalled')
    expect(allowed.stdout).toContain('Warning: alice/tool@2.0.0 is recalled (2.x): It deletes the home folder.')
    expect(await read()).toBe(toSkillMd('2.0.0'))
    expect((await project.run('list')).stdout).toContain('alice/tool@2.0.0  .agents/skills/tool  recalled (2.x)')
    expect(JSON.parse((await project.run('list', '--json')).stdout).skills[0].recalled).toMatchObject({ reason })
  })

  it('refuses a recalled version in skills.lock, even from the cache and offline', async () => {
    const { api, install, project, recall, read } = await start()
    await install('alice/tool')
    const { id } = await recall('2.x')
    await rm(join(project.folder, '.agents'), { recursive: true })
    for (const words of [[], ['--offline'], ['alice/tool', '--offline'], ['alice/tool@2.0.0', '--offline']]) {
      const refused = await project.run('install', ...words)
      expect([words, refused.code, (refused.stdout + refused.stderr).includes('was recalled (2.x)')]).toEqual([
        words,
        1,
        true,
      ])
      expect(await read()).toBeUndefined()
    }
    const accepted = await project.run('install', 'alice/tool@2.0.0', '--offline', '--allow-recalled')
    expect([accepted.code, await read()]).toEqual([0, toSkillMd('2.0.0')])
    // Also where nothing is to be written.
    expect((await project.run('install')).code).toBe(1)
    await api.endRecall({ name: 'alice/tool', id })
    expect((await project.run('install')).code).toBe(0)
    expect((await project.run('list')).stdout).not.toContain('recalled')
  })

  it('lists a recalled version in skills.lock as recalled, even if the lock entry names another skill', async () => {
    const { install, project, recall } = await start()
    await install('alice/tool')
    await recall('2.x')
    expect((await project.run('install')).code).toBe(1)
    const file = join(project.folder, 'skills.lock')
    await writeFile(file, (await readFile(file, 'utf8')).replace('"version": "2', '"fullName": "a/b",\n$&'))
    expect((await project.run('list')).stdout).toContain('alice/tool@2.0.0  .agents/skills/tool  recalled (2.x)')
  })

  it('installs the skills in skills.lock that are not recalled', async () => {
    const { api, install, project, recall } = await start()
    await api.publishSkill({ skillMd: toSkillMd('other').replace('tool', 'other'), version: '1.0.0' })
    await install('alice/tool', 'alice/other')
    await recall('2.x')
    for (const words of [[], ['--offline']]) {
      await rm(join(project.folder, '.agents'), { recursive: true })
      const { code, stdout } = await project.run('install', ...words)
      expect([code, Object.keys(await project.files())]).toEqual([1, ['.agents/skills/other/SKILL.md', 'skills.lock']])
      expect(stdout).toContain('Restored alice/other@1.0.0')
      expect(stdout).toContain('alice/tool@2.0.0 was recalled (2.x): It deletes the home folder. It is left as it is.')
    }
    const { recalled } = JSON.parse((await project.run('install', '--json')).stdout) as { recalled: unknown }
    expect(recalled).toEqual([{ fullName: 'alice/tool', version: '2.0.0' }])
  })

  it('installs from the cache with a warning if the registry is unavailable', async () => {
    const { install, node, project, read } = await start()
    await install('alice/tool')
    await rm(join(project.folder, '.agents'), { recursive: true })
    await node.close()
    const installed = await project.run('install')
    expect([installed.code, await read()]).toEqual([0, toSkillMd('2.0.0')])
    expect(installed.stderr).toContain(`Could not ask ${node.url} whether its skills were recalled`)
  })

  it('refuses a pack that pins a recalled version', async () => {
    const { api, install, recall, read } = await start()
    await api.createPack({ name: 'Kit', description: '', skills: [{ name: 'alice/tool', version: '1.1.0' }] })
    await recall('1.1.0')
    const refused = await install('pack:kit')
    expect([refused.code, refused.stderr.includes('alice/tool@1.1.0 was recalled')]).toEqual([1, true])
    expect(await read()).toBeUndefined()
  })
})

it('`load` refuses a recalled version, unless it is named exactly with --allow-recalled', async () => {
  const { project, recall, node } = await start()
  await recall('2.x')
  const load = (...args: string[]) => project.run('load', ...args, '--url', node.url)
  const refused = await load('alice/tool@2.0.0')
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('alice/tool@2.0.0 was recalled')])
  for (const words of [['alice/tool'], ['alice/tool@latest'], ['alice/tool', '--version', 'latest']]) {
    const { code, stderr } = await load(...words, '--allow-recalled')
    expect([code, stderr]).toEqual([2, expect.stringContaining('exact version')])
  }
  for (const words of [['alice/tool@2.0.0'], ['alice/tool', '--version', '2.0.0']]) {
    const { code, stdout } = await load(...words, '--allow-recalled')
    expect([code, stdout.trimEnd()]).toEqual([0, toSkillMd('2.0.0').trimEnd()])
  }
})

describe('`install` with --allow-recalled', () => {
  it('allows only the recalled versions that the command names, not recalled versions in a pack', async () => {
    const { api, install, recall, read } = await start()
    await api.publishSkill({ skillMd: toSkillMd('other').replace('tool', 'other'), version: '1.2.0' })
    await api.createPack({ name: 'Kit', description: '', skills: [{ name: 'alice/tool', version: '1.1.0' }] })
    await recall('1.1.0')
    for (const other of ['alice/other@1.2.0', 'alice/tool@1.0.0']) {
      const refused = await install('pack:kit', other, '--allow-recalled')
      expect([refused.code, refused.stderr.includes('alice/tool@1.1.0 was recalled')]).toEqual([1, true])
      expect(await read()).toBeUndefined()
    }
    const accepted = await install('pack:kit', 'alice/tool@1.1.0', '--allow-recalled')
    expect([accepted.code, await read()]).toEqual([0, toSkillMd('1.1.0')])
  })
})

describe('an installed version that is recalled', () => {
  it('is listed by `outdated`, and replaced by `update`, even by a lower version', async () => {
    const { install, project, recall, read } = await start()
    await install('alice/tool')
    await recall('2.x')
    expect((await project.run('list')).stdout).not.toContain('recalled')
    const outdated = await project.run('outdated')
    expect(outdated.code).toBe(1)
    expect(outdated.stdout).toMatch(/alice\/tool@2\.0\.0 {2}recalled .*It deletes the home folder/)
    // `list` asks no registry: it shows what was reported last.
    expect((await project.run('list')).stdout).toContain('recalled (2.x): It deletes')
    const { skills } = await project.json<InstalledAnswer>('update')
    expect(skills).toMatchObject([{ change: 'downgraded', version: '1.1.0' }])
    expect(await read()).toBe(toSkillMd('1.1.0'))
    expect((await project.run('list')).stdout).not.toContain('recalled')
  })

  it('stays installed with a warning if there is no other version', async () => {
    const { install, project, recall } = await start()
    await install('alice/tool')
    await recall('*')
    const { code, stdout } = await project.run('update')
    expect([code, stdout.split('was recalled, and there is no other version')]).toEqual([
      1,
      [expect.anything(), expect.anything()],
    ])
  })

  it('makes `heartbeat` fail and print the reason of the recall', async () => {
    const { install, node, project, recall } = await start()
    await install('alice/tool')
    await recall('2.x')
    const heartbeat = await project.run('heartbeat', '--url', node.url)
    expect(heartbeat.code).toBe(1)
    expect(heartbeat.stdout).toContain('alice/tool@2.0.0  recalled')
    expect(heartbeat.stdout).toContain('Recalled (2.x): It deletes the home folder.')
    expect((await project.run('list')).stdout).toContain('recalled (2.x)')
  })
})

describe('a recalled version', () => {
  it('is named by `verify`, which still compares the files', async () => {
    const { install, node, project, recall } = await start()
    await install('alice/tool')
    await recall('2.x')
    await project.run('heartbeat', '--url', node.url)
    const { code, stdout } = await project.run('verify')
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [
        'The installed skill matches skills.lock, byte for byte.',
        'Warning: alice/tool@2.0.0 was recalled (2.x): It deletes the home folder. Stop using it.',
        '',
      ],
    ])
  })

  it('is shown with its reason by `show` and `install` if no other version is left', async () => {
    const { api, install, node, project, recall } = await start()
    await recall('1.x')
    await api.recallSkill({ name: 'alice/tool', range: '>=2.0.0', reason: 'The newest is worse.' })
    const { stdout } = await project.run('show', 'alice/tool', '--url', node.url)
    expect(stdout).toMatch(/recalled +>=2\.0\.0: The newest is worse\./)
    expect((await install('alice/tool')).stderr).toContain('2.0.0 was recalled (>=2.0.0): The newest is worse.')
  })
})

describe('a recall that a registry reported', () => {
  it.each([
    ['deleted', remove],
    ['made private', toPrivate],
    ['hidden', hide],
  ])('stays known when the skill is %s', async (_what, change) => {
    const { api, install, node, project, recall, read } = await start()
    await install('alice/tool')
    await recall('2.x')
    await project.run('heartbeat', '--url', node.url)
    await change(api)
    for (const words of [['heartbeat'], ['outdated']]) await project.run(...words, '--url', node.url)
    expect((await project.run('list')).stdout).toContain('recalled (2.x): It deletes')
    await rm(join(project.folder, '.agents'), { recursive: true })
    expect([(await project.run('install')).code, await read()]).toEqual([1, undefined])
  })

  it('stays known when the skill is taken down', async () => {
    const { install, project } = await start()
    await install('alice/tool')
    const updates = [toRow('eve/other', { reason: 'recalled', recalled: { range: '*', reason: 'Evil', at: '' } })]
    await lockFrom(project, 'eve/other', await startForged(updates))
    await project.run('outdated')
    updates[0] = toRow('eve/other', { reason: 'taken_down' })
    expect((await project.run('outdated')).stdout).toContain('taken_down')
    expect((await project.run('list')).stdout).toContain('recalled (*): Evil')
  })

  it('stays known when `heartbeat` does not ask about the skill, because its folder is missing', async () => {
    const { install, node, project, recall, read } = await start()
    await install('alice/tool')
    await recall('2.x')
    await project.run('heartbeat', '--url', node.url)
    await rm(join(project.folder, '.agents'), { recursive: true })
    expect((await project.run('heartbeat', '--url', node.url)).stdout).toContain('alice/tool  missing')
    expect([(await project.run('install', '--offline')).code, await read()]).toEqual([1, undefined])
  })

  it.each([
    ['the reason alone', { reason: 'recalled' }],
    ['a recall that cannot be read', { reason: 'outdated', recalled: 'yes' }],
    ['a recall without texts', { reason: 'recalled', recalled: { range: 7 } }],
  ])('is known from %s', async (_what, reported) => {
    const { install, project } = await start()
    await install('alice/tool')
    await lockFrom(project, 'eve/other', await startForged([toRow('eve/other', reported)]))
    const refused = await project.run('install')
    expect(refused.code).toBe(1)
    expect((await project.files())['.agents/skills/other/SKILL.md']).toBeUndefined()
    expect((await project.run('list')).stdout).toMatch(/eve\/other@2\.0\.0 .*recalled \(/)
  })

  it('is shortened if the reason is very long, and does not replace recalls of other registries', async () => {
    const { install, node, project, recall } = await start()
    await install('alice/tool')
    await recall('2.x')
    await project.run('heartbeat', '--url', node.url)
    const long = { range: '1'.repeat(10_000), reason: 'bad '.repeat(4 * 1024 * 1024), at: '2'.repeat(10_000) }
    await lockFrom(
      project,
      'eve/other',
      await startForged([toRow('eve/other', { reason: 'recalled', recalled: long })]),
    )
    await project.run('outdated', 'eve/other')
    const { stdout } = await project.run('list')
    expect(stdout).toContain('recalled (2.x): It deletes the home folder.')
    expect(stdout).toContain('bad bad')
    expect(stdout.length).toBeLessThan(2000)
    const cache = join(project.home, '.cache/skillstead')
    const files = (await readdir(cache, { recursive: true })).filter((file) => /^recalls.*\.json$/.test(file))
    for (const file of files) expect((await stat(join(cache, file))).size).toBeLessThan(2000)
    expect(files).toHaveLength(2)
  })

  it('stops `install` even if another registry in skills.lock is unavailable', async () => {
    const { install, project, recall, read } = await start()
    await install('alice/tool')
    await lockFrom(project, 'aaa/dead', 'http://127.0.0.1:9')
    await recall('2.x')
    await rm(join(project.folder, '.agents'), { recursive: true })
    const installed = await project.run('install')
    expect([installed.code, await read()]).toEqual([1, undefined])
    expect(installed.stderr).toContain('Could not ask http://127.0.0.1:9 whether its skills were recalled')
  })
})

describe('`recall`', () => {
  it('recalls a range, lists the recalls, and ends a recall', async () => {
    const { api, key, node, project } = await start()
    const place = ['--url', node.url, '--key', key]
    const run = (...words: string[]) => project.run('recall', ...words, ...place)
    const made = await run('alice/tool@>=1.1.0 <3.0.0', '--reason', reason)
    expect(made.code).toBe(0)
    expect(made.stdout).toContain('Versions: 2.0.0, 1.1.0.')
    expect((await api.getSkill({ name: 'alice/tool' })).latestVersion).toBe('1.0.0')
    const { recalls } = await project.json<{ recalls: { id: string }[] }>('recall', 'alice/tool', ...place)
    expect(recalls).toHaveLength(1)
    expect((await run('alice/tool')).stdout).toContain('No one is known to have a recalled version.')
    const ended = await run('alice/tool', '--end', recalls[0]!.id)
    expect(ended.stdout).toContain('Ended 20')
    expect((await api.getSkill({ name: 'alice/tool' })).latestVersion).toBe('2.0.0')
  })

  it.each([
    ['a range without a reason', ['alice/tool@1.0.0'], 2, 'Pass --reason'],
    ['a reason without a range', ['alice/tool', '--reason', 'x'], 2, 'NAME@RANGE'],
    ['a range that is none', ['alice/tool@newest', '--reason', 'x'], 1, 'range must be an exact version'],
    ['a range that matches nothing', ['alice/tool@1.0.7', '--reason', 'x'], 1, 'matches no version'],
    ['an unknown id', ['alice/tool', '--end', 'x'], 1, 'no recall with this id'],
  ])('refuses %s', async (_what, words, code, message) => {
    const { key, node, project } = await start()
    const refused = await project.run('recall', ...words, '--url', node.url, '--key', key)
    expect([refused.code, refused.stderr.includes(message)]).toEqual([code, true])
  })
})

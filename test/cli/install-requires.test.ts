import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RegistryApi } from '@skillstead/protocol'
import { describe, expect, it } from 'vitest'
import { makeProject, type InstalledAnswer } from '../support/install-harness.ts'
import { startNode } from '../support/server-harness.ts'

let bodies = 0
async function start() {
  const { api, node } = await startNode()
  const publish = (name: string, version: string, requires?: string) => {
    const metadata = requires === undefined ? '' : `metadata:\n  requires: ${requires}\n`
    const skillMd = `---\nname: ${name}\ndescription: What ${name} does.\n${metadata}---\n\n# ${name}\n\nNumber ${++bodies}.\n`
    return api.publishSkill({ skillMd, version })
  }
  for (const version of ['1.0.0', '1.4.0', '2.0.0']) await publish('lib', version)
  await publish('forms', '1.0.0', '[lib@^1.0.0]')
  await publish('report', '1.0.0', '[lib, forms@~1.0.0]')
  return { api, publish, url: node.url, project: await makeProject() }
}

const lockOf = async (folder: string) =>
  (
    JSON.parse(await readFile(join(folder, 'skills.lock'), 'utf8')) as {
      skills: Record<string, { version: string; requires?: object }>
    }
  ).skills

it('`install` adds the skills that a skill requires, names the reason, and stores the ranges in skills.lock', async () => {
  const { project, url } = await start()
  const { code, stdout, stderr } = await project.run('install', 'report', '--url', url)
  expect([code, stdout.split('\n')]).toEqual([
    0,
    [
      'Installed alice/report@1.0.0 in .agents/skills/report.',
      'Installed alice/lib@1.4.0 in .agents/skills/lib, required by alice/report, alice/forms.',
      'Installed alice/forms@1.0.0 in .agents/skills/forms, required by alice/report.',
      '',
    ],
  ])
  expect(stderr).toContain('alice/report requires alice/lib *: 1.4.0 is added.\n')
  const locked = await lockOf(project.folder)
  expect(locked['alice/report']!.requires).toEqual({ 'alice/forms': '~1.0.0', 'alice/lib': '*' })
  expect(locked['alice/lib']!.requires).toBeUndefined()
  // Another project gets the same versions from the lock alone.
  const other = await makeProject(project.home)
  await writeFile(join(other.folder, 'skills.lock'), await readFile(join(project.folder, 'skills.lock')))
  expect((await other.run('install', '--offline')).code).toBe(0)
  expect(await other.files()).toEqual(await project.files())
})

it('`install --no-deps` installs only the named skills', async () => {
  const { project, url } = await start()
  const { skills } = await project.json<InstalledAnswer>('install', 'report', '--no-deps', '--url', url)
  expect(skills).toMatchObject([{ fullName: 'alice/report' }])
  expect((await lockOf(project.folder))['alice/report']!.requires).toBeUndefined()
})

it('`install` keeps installed skills within the required ranges, and refuses a version outside them', async () => {
  const { project, url } = await start()
  await project.run('install', 'lib@1.0.0', '--url', url)
  const { skills } = await project.json<InstalledAnswer>('install', 'forms', '--url', url)
  expect(skills).toMatchObject([{ fullName: 'alice/forms' }])
  expect((await lockOf(project.folder))['alice/lib']!.version).toBe('1.0.0')
  const before = await project.files()
  const { code, stderr } = await project.run('install', 'lib', '--url', url)
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('alice/forms is installed and requires alice/lib ^1.0.0, which excludes 2.0.0.'),
  ])
  expect(await project.files()).toEqual(before)
})

it.each([
  ['lib@2.0.0', '^1.0.0', 'it goes back from 2.0.0 to 1.4.0', 'Downgraded alice/lib from 2.0.0 to 1.4.0'],
  ['lib@1.0.0', '^1.4.0', 'it is updated from 1.0.0 to 1.4.0', 'Updated alice/lib from 1.0.0 to 1.4.0'],
])('`install` says that an installed skill changes its version: %s for %s', async (word, range, told, shown) => {
  const { project, publish, url } = await start()
  await publish('needy', '1.0.0', `[lib@${range}]`)
  await project.run('install', word, '--url', url)
  const { code, stdout, stderr } = await project.run('install', 'needy', '--url', url)
  expect([code, stderr]).toEqual([0, expect.stringContaining(`alice/needy requires alice/lib ${range}: ${told}.\n`)])
  expect(stderr).not.toContain('is added')
  expect(stdout).toContain(shown)
})

it.each([
  ['a conflict', '[lib@^2.0.0, forms]', /No version of alice\/lib satisfies all of its ranges: \^2\.0\.0 .*\^1\.0\.0/],
  [
    'a cycle',
    '[back]',
    /alice\/back 1\.0\.0 → alice\/wrong 1\.0\.0 → alice\/back 1\.0\.0 is a cycle|alice\/wrong 1\.0\.0 → alice\/back 1\.0\.0 → alice\/wrong 1\.0\.0 is a cycle/,
  ],
  [
    'a skill that does not exist',
    '[alice/nothing]',
    /There is no skill 'alice\/nothing' that you may see, and alice\/wrong 1\.0\.0 requires it/,
  ],
])('`install` refuses %s, and changes nothing', async (_what, requires, message) => {
  const { project, publish, url } = await start()
  await publish('back', '1.0.0', '[wrong]')
  await publish('wrong', '1.0.0', requires)
  const { code, stderr } = await project.run('install', 'wrong', '--url', url)
  expect(code).toBe(1)
  expect(stderr).toMatch(message)
  expect(await project.files()).toEqual({})
  expect((await project.run('install', 'wrong', '--no-deps', '--url', url)).code).toBe(0)
})

it('`install` names commands, MCP servers and environment variables that are missing', async () => {
  const { project, publish, url } = await start()
  await publish(
    'needy',
    '1.0.0',
    '{ commands: [node, no-such-command, no-one | no-two], mcpServers: [github], env: [HOME, NO_SUCH_KEY] }',
  )
  const { warnings } = await project.json<InstalledAnswer>('install', 'needy', '--url', url)
  expect(warnings).toEqual([
    'alice/needy needs the command no-such-command, which is not in PATH.',
    'alice/needy needs the command no-one or no-two, which is not in PATH.',
    'alice/needy needs the MCP server github. Add it to your client if it is not there.',
    'alice/needy needs the environment variable NO_SUCH_KEY, which is not set.',
  ])
  await writeFile(join(project.folder, '.mcp.json'), '{"mcpServers":{"github":{}}}')
  await project.run('remove', 'needy')
  expect((await project.json<InstalledAnswer>('install', 'needy', '--url', url)).warnings).toHaveLength(3)
})

it('`update` keeps skills within the ranges of the skills that require them, and adds new requirements', async () => {
  const { project, publish, url } = await start()
  await project.run('install', 'forms', '--url', url)
  await publish('lib', '1.5.0')
  await publish('extra', '1.0.0')
  const first = await project.run('update', '--url', url)
  expect(first.stdout).toBe('Updated alice/lib from 1.4.0 to 1.5.0 in .agents/skills/lib.\n')
  expect(first.stderr).toContain('alice/lib is updated to 1.5.0, not 2.0.0: alice/forms requires ^1.0.0.')
  expect((await project.run('update', '--url', url)).stderr).toContain('alice/lib stays at 1.5.0, not 2.0.0')
  await publish('forms', '1.1.0', '[lib@^2.0.0, extra]')
  const { skills } = await project.json<InstalledAnswer>('update', '--url', url)
  expect(skills.map(({ fullName, change }) => `${fullName} ${change}`).toSorted()).toEqual([
    'alice/extra installed',
    'alice/forms updated',
    'alice/lib updated',
  ])
  expect((await lockOf(project.folder))['alice/forms']!.requires).toEqual({ 'alice/extra': '*', 'alice/lib': '^2.0.0' })
})

const recall = (api: RegistryApi, range: string) => api.recallSkill({ name: 'alice/lib', range, reason: 'It is bad.' })

describe('a recalled or yanked skill that other skills require', () => {
  it('is downgraded by `update` to a lower version within the required ranges', async () => {
    const { api, project, url } = await start()
    await project.run('install', 'forms', '--url', url)
    await recall(api, '1.4.0')
    const { code, stdout, stderr } = await project.run('update', '--url', url)
    expect([code, stdout]).toEqual([0, 'Downgraded alice/lib from 1.4.0 to 1.0.0 in .agents/skills/lib.\n'])
    expect(stderr).toContain('alice/lib goes back to 1.0.0, not 2.0.0: alice/forms requires ^1.0.0.')
  })

  it('is not reported as up to date by `update` if no version within the required ranges is left', async () => {
    const { api, project, url } = await start()
    await project.run('install', 'forms', '--url', url)
    await recall(api, '1.x')
    const { code, stderr } = await project.run('update', '--url', url)
    expect(code).toBe(1)
    expect(stderr).toMatch(/No version of alice\/lib satisfies its range.*Yanked or recalled: /)
  })

  it('that cannot be replaced does not stop `update` of other skills', async () => {
    const { api, project, publish, url } = await start()
    await publish('tool', '1.0.0')
    await publish('spare', '1.0.0')
    await project.run('install', 'forms', 'tool', 'spare', '--url', url)
    for (const name of ['tool', 'spare']) await publish(name, '1.1.0')
    await api.recallSkill({ name: 'alice/spare', range: '1.0.0', reason: 'It is bad.' })
    await recall(api, '1.x')
    const { code, stdout, stderr } = await project.run('update', '--url', url)
    expect([code, stdout.trimEnd().split('\n').toSorted()]).toEqual([
      1,
      [
        'Updated alice/spare from 1.0.0 to 1.1.0 in .agents/skills/spare.',
        'Updated alice/tool from 1.0.0 to 1.1.0 in .agents/skills/tool.',
        'Warning: alice/forms requires alice/lib ^1.0.0, of which no version is offered any more.',
        'Warning: alice/lib@1.4.0 was recalled. Stop using it. Install 2.0.0 instead. The reason that was given (1.x): It is bad.',
      ],
    ])
    expect(stderr).toMatch(/No version of alice\/lib satisfies/)
  })

  it('is updated to its latest version if the other skills, once updated, no longer require the recalled skill', async () => {
    const { api, project, publish, url } = await start()
    await project.run('install', 'forms', '--url', url)
    await recall(api, '1.x')
    await publish('forms', '1.1.0')
    const { code } = await project.run('update', '--url', url)
    expect([code, (await lockOf(project.folder))['alice/lib']!.version]).toEqual([0, '2.0.0'])
  })

  it('is replaced by `install` of another skill that requires it', async () => {
    const { api, project, publish, url } = await start()
    await project.run('install', 'lib@1.4.0', '--url', url)
    await recall(api, '1.4.0')
    await project.run('outdated', '--url', url)
    await publish('depc', '1.0.0', '[lib@^1.0.0]')
    const { skills } = await project.json<InstalledAnswer>('install', 'depc', '--url', url)
    expect(skills.map(({ fullName, version }) => `${fullName}@${version}`).toSorted()).toEqual([
      'alice/depc@1.0.0',
      'alice/lib@1.0.0',
    ])
  })

  it('is downgraded by `update` if the installed version was yanked', async () => {
    const { api, project, url } = await start()
    await project.run('install', 'forms', '--url', url)
    await api.yankVersion({ name: 'alice/lib', version: '1.4.0' })
    expect((await project.run('update', '--url', url)).code).toBe(0)
    expect((await lockOf(project.folder))['alice/lib']!.version).toBe('1.0.0')
  })
})

it('`update` names the installed skill that excludes the versions that another skill requires', async () => {
  const { project, publish, url } = await start()
  await publish('cc', '1.0.0', '[lib@^1.0.0]')
  await publish('wide', '1.0.0', '[lib]')
  await project.run('install', 'cc', 'wide', '--url', url)
  await publish('wide', '1.1.0', '[lib@^2.0.0]')
  const { code, stderr } = await project.run('update', '--url', url)
  expect(code).toBe(1)
  expect(stderr).toContain('^1.0.0 (required by the installed alice/cc 1.0.0)')
  expect(stderr).toContain('^2.0.0 (required by alice/wide 1.1.0)')
  expect(stderr).not.toContain('requested')
})

/** Skills of which the update of `wide` conflicts with `cc`, and others whose updates are independent of it. */
async function startConflict() {
  const { publish, ...others } = await start()
  await publish('cc', '1.0.0', '[lib@^1.0.0]')
  await publish('wide', '1.0.0', '[lib]')
  const names = ['tool-a', 'tool-b', 'tool-c', 'tool-d']
  for (const name of names) await publish(name, '1.0.0')
  await others.project.run('install', 'cc', 'wide', ...names, '--url', others.url)
  await publish('wide', '1.1.0', '[lib@^2.0.0]')
  return { publish, names, ...others }
}

describe('a conflict of requirements in `update`', () => {
  it('leaves the affected skill unchanged, with the reason, and does not stop updates of independent skills', async () => {
    const { project, publish, names, url } = await startConflict()
    for (const name of names) await publish(name, '1.1.0')
    await publish('lib', '1.5.0')
    const { code, stdout, stderr } = await project.run('update', '--url', url)
    expect([code, stdout.trimEnd().split('\n').toSorted()]).toEqual([
      1,
      [
        'Updated alice/lib from 1.4.0 to 1.5.0 in .agents/skills/lib.',
        ...names.map((name) => `Updated alice/${name} from 1.0.0 to 1.1.0 in .agents/skills/${name}.`),
      ],
    ])
    const told = stderr.split('\n').filter((line) => line.startsWith('alice/wide stays at 1.0.0, not 1.1.0: '))
    expect(told).toEqual([expect.stringContaining('^1.0.0 (required by the installed alice/cc 1.0.0)')])
    expect(stderr.match(/alice\/lib is updated to 1\.5\.0/g)).toHaveLength(1)
    const again = await project.run('update', '--url', url)
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('alice/wide stays at 1.0.0') })
  })

  it('is listed with --json, and does not stop an update that adds a newly required skill', async () => {
    const { project, publish, url } = await startConflict()
    await publish('extra', '1.0.0')
    await publish('tool-b', '1.1.0', '[extra@^1.0.0]')
    const { code, stdout } = await project.run('update', '--url', url, '--json')
    const { conflicts, skills } = JSON.parse(stdout) as InstalledAnswer & { conflicts: unknown[] }
    expect([code, skills.map(({ fullName }) => fullName).toSorted()]).toEqual([1, ['alice/extra', 'alice/tool-b']])
    expect(conflicts).toEqual([
      {
        fullName: 'alice/wide',
        version: '1.0.0',
        latestVersion: '1.1.0',
        reason: expect.stringContaining('^2.0.0 (required by alice/wide 1.1.0)'),
      },
    ])
  })

  it('does not stop the update of two skills whose new versions are compatible only with each other', async () => {
    const { project, publish, url } = await startConflict()
    for (const version of ['1.0.0', '2.0.0']) await publish('common', version)
    for (const name of ['pair-a', 'pair-b']) await publish(name, '1.0.0', '[common@^1.0.0]')
    await project.run('install', 'pair-a', 'pair-b', '--url', url)
    for (const name of ['pair-a', 'pair-b']) await publish(name, '2.0.0', '[common@^2.0.0]')
    const { code, stderr } = await project.run('update', '--url', url)
    expect([code, stderr]).toEqual([1, expect.stringContaining('alice/wide stays at 1.0.0, not 1.1.0: ')])
    const locked = await lockOf(project.folder)
    expect(['pair-a', 'pair-b', 'common', 'wide'].map((name) => locked[`alice/${name}`]!.version)).toEqual([
      '2.0.0',
      '2.0.0',
      '2.0.0',
      '1.0.0',
    ])
  })

  it('that affects every update is an error that changes nothing', async () => {
    const { project, publish, url } = await startConflict()
    await publish('tool-a', '1.1.0', '[nothing]')
    const before = await project.files()
    const { code, stderr } = await project.run('update', '--url', url)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/No version of alice\/lib|There is no skill/)])
    expect(await project.files()).toEqual(before)
  })
})

it('`update` refuses to add two skills of the same short name', async () => {
  const { api, project, publish, url } = await start()
  await api.createOrganisation({ name: 'acme' })
  await api.publishSkill({ skillMd: '---\nname: extra\ndescription: Another.\n---\n# Other\n', owner: 'acme' })
  await publish('extra', '1.0.0')
  await project.run('install', 'forms', '--url', url)
  await publish('forms', '1.1.0', '[lib@^1.0.0, extra, acme/extra]')
  const before = await project.files()
  const { code, stderr } = await project.run('update', '--url', url)
  expect([code, stderr]).toEqual([1, expect.stringContaining('would both be installed in .agents/skills/extra')])
  expect(await project.files()).toEqual(before)
})

it('`remove` names the installed skills that require the removed skill', async () => {
  const { project, url } = await start()
  await project.run('install', 'forms', '--url', url)
  const { code, stdout } = await project.run('remove', 'lib')
  expect([code, stdout]).toEqual([
    0,
    'Removed alice/lib@1.4.0 from .agents/skills/lib.\n' +
      'Warning: alice/forms requires alice/lib ^1.0.0. Install it again, or remove alice/forms.\n',
  ])
  await project.run('install', 'lib@1.4.0', '--url', url)
  expect((await project.run('remove', 'lib', 'forms')).stdout).not.toContain('Warning')
})

it('a skills.lock with invalid requirements is refused', async () => {
  const { project, url } = await start()
  await project.run('install', 'forms', '--url', url)
  const file = join(project.folder, 'skills.lock')
  const text = await readFile(file, 'utf8')
  for (const wrong of ['">>1"', '5', '"x y"']) {
    await writeFile(file, text.replace('"^1.0.0"', wrong))
    expect((await project.run('list')).stderr).toContain('its requirements are invalid')
  }
})

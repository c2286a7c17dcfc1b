import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { skillstead, skillsteadJson } from '../support/cli-harness.ts'
import { makeProject, readTree, type InstalledAnswer } from '../support/install-harness.ts'
import { skillMd, startNode } from '../support/server-harness.ts'

const script = 'print("hello")\n'
const files = [{ path: 'scripts/read.py', content: script }]

it('`install` writes a skill and skills.lock, from which another project gets the same bytes without the node', async () => {
  const { api, node } = await startNode()
  const { version } = await api.publishSkill({ skillMd: `${skillMd}More.\n`, files, version: '1.1.0' })
  const project = await makeProject()
  const { stdout, code } = await project.run('install', 'alice/pdf', '--url', node.url)
  expect([code, stdout]).toEqual([0, 'Installed alice/pdf@1.1.0 in .agents/skills/pdf.\n'])
  const lock = await readFile(join(project.folder, 'skills.lock'), 'utf8')
  const row = { version: '1.1.0', digest: version.digest, source: node.url, targets: ['.agents/skills/pdf'] }
  expect(JSON.parse(lock)).toEqual({ version: 1, skills: { 'alice/pdf': row } })
  const { 'skills.lock': _, ...installed } = await project.files()
  expect(installed).toEqual({
    '.agents/skills/pdf/SKILL.md': `${skillMd}More.\n`,
    '.agents/skills/pdf/scripts/read.py': script,
  })
  await expect.poll(async () => (await api.getSkill({ name: 'alice/pdf' })).downloads).toBe(1)

  await node.close()
  const other = await makeProject(project.home)
  await writeFile(join(other.folder, 'skills.lock'), lock)
  expect((await other.run('install')).stdout).toBe('Restored alice/pdf@1.1.0 in .agents/skills/pdf.\n')
  expect(await other.files()).toEqual(await project.files())
  expect((await other.run('verify')).stdout).toBe('The installed skill matches skills.lock, byte for byte.\n')
  const again = await other.json<InstalledAnswer>('install', 'pdf', '--offline')
  expect(again.skills).toMatchObject([{ fullName: 'alice/pdf', version: '1.1.0', change: 'unchanged' }])
  // Asked for by name, the node is needed; where it is away, the lock will do.
  const away = await other.run('install', 'pdf', '--url', node.url)
  expect([away.code, away.stdout]).toEqual([0, 'alice/pdf@1.1.0 is already in .agents/skills/pdf.\n'])
  expect(away.stderr).toContain('is installed as in skills.lock')
})

it('`install` accepts exact versions, short names and packs, and the folders of agents in a project or home folder', async () => {
  const { api, node } = await startNode()
  await api.publishSkill({ skillMd: `${skillMd}More.\n`, version: '1.1.0' })
  await api.publishSkill({ skillMd: '---\nname: csv\ndescription: Reads tables\n---\n# CSV\n' })
  await api.createPack({ name: 'Files', description: 'x', skills: [{ name: 'pdf', version: '1.0.0' }, 'csv'] })
  const project = await makeProject()
  const pack = await project.json<InstalledAnswer>(
    'install',
    'pack:files',
    '--agent',
    'claude-code,codex',
    '--url',
    node.url,
  )
  expect(pack.skills).toMatchObject([
    { fullName: 'alice/pdf', version: '1.0.0', targets: ['.claude/skills/pdf', '.agents/skills/pdf'] },
    { fullName: 'alice/csv', version: '1.0.0', targets: ['.claude/skills/csv', '.agents/skills/csv'] },
  ])
  expect(Object.keys(await project.files())).toEqual([
    '.agents/skills/csv/SKILL.md',
    '.agents/skills/pdf/SKILL.md',
    '.claude/skills/csv/SKILL.md',
    '.claude/skills/pdf/SKILL.md',
    'skills.lock',
  ])
  // A pack that pins an older version than the one that is there takes it back, and says so.
  await project.run('install', 'pdf', '--url', node.url)
  const back = await project.run('install', 'pack:files', '--url', node.url)
  expect(back.stdout.split('\n')[0]).toBe(
    'Downgraded alice/pdf from 1.1.0 to 1.0.0 in .agents/skills/pdf, .claude/skills/pdf.',
  )
  await project.run('install', 'pdf', '--url', node.url)
  const again = await project.json<InstalledAnswer>('install', 'pack:files', '--url', node.url)
  expect(again.skills[0]).toMatchObject({ version: '1.0.0', from: '1.1.0', change: 'downgraded' })

  const global = await project.run('install', 'pdf@1.1.0', '--global', '--agent', 'claude-code', '--url', node.url)
  expect(global.stdout).toBe('Installed alice/pdf@1.1.0 in .claude/skills/pdf.\n')
  expect(await readFile(join(project.home, '.claude/skills/pdf/SKILL.md'), 'utf8')).toContain('More.')
  const listed = await project.run('list')
  expect(listed.stdout.split('\n')).toEqual([
    'alice/csv@1.0.0  .agents/skills/csv, .claude/skills/csv',
    'alice/pdf@1.0.0  .agents/skills/pdf, .claude/skills/pdf',
    '',
  ])
  expect((await project.run('list', '--global')).stdout).toBe('alice/pdf@1.1.0  .claude/skills/pdf\n')
  const dir = await project.run('install', 'csv', '--dir', 'tools', '--url', node.url)
  expect(dir.stdout).toContain('tools/csv')
  const here = await project.run('install', 'csv', '--dir', '.', '--url', node.url)
  expect([here.code, here.stdout]).toEqual([0, expect.stringContaining(' csv')])
  const after = await project.files()
  expect(after['csv/SKILL.md']).toContain('# CSV')

  // For its user skills may lie anywhere, and every command reads the lock that says so.
  const anywhere = join(project.folder, '../anywhere')
  await project.run('install', 'csv', '--global', '--dir', anywhere, '--url', node.url)
  for (const args of [['list'], ['plan'], ['heartbeat', '--url', node.url], ['verify']]) {
    const { code, stderr } = await project.run(...args, '--global')
    expect([args, code, stderr]).toEqual([args, 0, ''])
  }
})

it('`install` and `outdated` work with a registry in a data folder, without a node', async () => {
  const project = await makeProject()
  const [data, source] = [join(project.folder, '../data'), join(project.folder, '../source')]
  await mkdir(source)
  await writeFile(join(source, 'SKILL.md'), skillMd)
  await skillstead(['users', 'create', 'alice', '--data', data])
  await skillstead(['publish', source, '--owner', 'alice', '--data', data])
  await project.run('install', 'pdf', '--data', data)
  expect(await project.files()).toMatchObject({ '.agents/skills/pdf/SKILL.md': skillMd })
  expect(await project.json('outdated', '--data', data)).toEqual({ skills: [] })
  await writeFile(join(source, 'SKILL.md'), `${skillMd}More.\n`)
  await skillstead(['publish', source, '--owner', 'alice', '--data', data])
  const updated = await project.run('update', '--data', data)
  expect(updated.stdout).toBe('Updated alice/pdf from 1.0.0 to 1.0.1 in .agents/skills/pdf.\n')
  // The lockfile must not contain the path of the registry's data folder.
  expect(await readFile(join(project.folder, 'skills.lock'), 'utf8')).not.toContain(data)
})

it('`install` detects local changes, and overwrites them only with --force', async () => {
  const { api, node } = await startNode()
  const project = await makeProject()
  await project.run('install', 'pdf', '--url', node.url)
  const file = join(project.folder, '.agents/skills/pdf/SKILL.md')
  await writeFile(file, `${skillMd}My own line.\n`)
  await writeFile(join(project.folder, '.agents/skills/pdf/notes.md'), 'Mine.')
  await api.publishSkill({ skillMd: `${skillMd}More.\n`, version: '1.1.0' })
  const before = await project.files()

  await writeFile(file, skillMd.replaceAll('\n', '\r\n'))
  expect((await project.run('verify')).stdout).toContain('SKILL.md has CRLF line ends in place of LF')
  await writeFile(file, `${skillMd}My own line.\n`)
  const edits = 'SKILL.md was altered, notes.md was added'
  expect((await project.run('list')).stdout).toContain('.agents/skills/pdf (edited)')
  const verified = await project.run('verify', '--json')
  expect(verified.code).toBe(1)
  expect(JSON.parse(verified.stdout)).toMatchObject({
    ok: false,
    installed: [{ targets: [{ state: 'edited', edits }] }],
  })
  for (const args of [['install'], ['install', 'pdf'], ['update'], ['remove', 'pdf']]) {
    const { code, stdout } = await project.run(...args, ...(args[0] === 'remove' ? [] : ['--url', node.url]))
    expect([args, code]).toEqual([args, 1])
    expect(stdout).toContain(`Left .agents/skills/pdf as it is: ${edits}. Use --force `)
  }
  expect(await project.files()).toEqual(before)

  const { skills } = await project.json<InstalledAnswer>('update', '--force', '--url', node.url)
  expect(skills).toMatchObject([{ version: '1.1.0', from: '1.0.0', change: 'updated' }])
  const after = await project.files()
  expect(Object.keys(after)).toEqual(['.agents/skills/pdf/SKILL.md', 'skills.lock'])
  expect(after['.agents/skills/pdf/SKILL.md']).toBe(`${skillMd}More.\n`)
})

it('`install` without --force overwrites a folder only if its content can be restored', async () => {
  const { api, node, createUser } = await startNode()
  const key = await createUser('bob')
  const project = await makeProject()
  const url = ['--url', node.url]
  await project.run('install', 'pdf', ...url)
  const lock = await readFile(join(project.folder, 'skills.lock'), 'utf8')
  await api.publishSkill({ skillMd: `${skillMd}More.\n`, version: '1.1.0' })
  await project.run('update', ...url)
  // A colleague's lock, one version back: the folder holds a version of before, which is in the cache.
  await writeFile(join(project.folder, 'skills.lock'), lock)
  expect((await project.run('install')).stdout).toBe('Restored alice/pdf@1.0.0 in .agents/skills/pdf.\n')

  const folder = join(project.folder, '../bobs')
  await mkdir(folder)
  await writeFile(join(folder, 'SKILL.md'), skillMd.replace('Reads them', 'Writes them'))
  await skillsteadJson(['publish', folder, '--key', key, ...url], { env: project.env })
  const clash = await project.run('install', 'bob/pdf', ...url)
  expect([clash.code, clash.stderr]).toEqual([1, expect.stringContaining('alice/pdf is already installed in')])
  expect((await project.run('install', 'bob/pdf', '--dir', 'other', ...url)).code).toBe(0)
  const ambiguous = await project.run('remove', 'pdf')
  expect(ambiguous.stderr).toBe("'pdf' is ambiguous: alice/pdf and bob/pdf. Use the full name.\n")

  await mkdir(join(project.folder, 'strange/pdf'), { recursive: true })
  await writeFile(join(project.folder, 'strange/pdf/notes.md'), 'Mine.')
  const strange = await project.run('install', 'alice/pdf', '--dir', 'strange', ...url)
  expect([strange.code, strange.stdout]).toEqual([1, expect.stringContaining('Left strange/pdf as it is')])
  expect(await project.files()).toMatchObject({ 'strange/pdf/notes.md': 'Mine.' })

  expect((await project.run('remove', 'bob/pdf')).stdout).toBe('Removed bob/pdf@1.0.0 from other/pdf.\n')
  expect(Object.keys(JSON.parse(await readFile(join(project.folder, 'skills.lock'), 'utf8')).skills)).toEqual([
    'alice/pdf',
  ])
})

it('`install` needs an API key for private skills, and sends the key only to its registry', async () => {
  const { api, node, key } = await startNode()
  const other = await startNode()
  await api.publishSkill({ skillMd: skillMd.replaceAll('pdf', 'hidden'), visibility: 'private' })
  const project = await makeProject()
  const refused = await project.run('install', 'alice/hidden', '--url', node.url)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('hidden')])
  expect(await project.files()).toEqual({})
  await project.run('install', 'alice/hidden', '--key', key, '--url', node.url)
  await project.run('install', 'alice/pdf', '--url', other.node.url)
  const before = await project.files()

  await rm(join(project.folder, '.agents'), { recursive: true })
  await rm(join(project.home, '.cache'), { recursive: true })
  // Each comes from its own registry; the key is sent to neither, for nothing says whose it is.
  const { code, stderr } = await project.run('install', '--key', key)
  expect([code, stderr]).toEqual([1, expect.stringContaining('hidden')])
  const json = await skillsteadJson<InstalledAnswer>(['install'], {
    cwd: project.folder,
    env: { ...project.env, SKILLSTEAD_URL: node.url, SKILLSTEAD_KEY: key },
  })
  expect(json.skills.map(({ fullName }) => fullName)).toEqual(['alice/hidden', 'alice/pdf'])
  expect(await project.files()).toEqual(before)
  expect(Object.keys(await readTree(join(project.home, '.cache')))).toHaveLength(2)
})

it('`install` reports each usage error with advice on how to correct it', async () => {
  const project = await makeProject()
  const outside = ['install', 'pdf', '--dir', '../elsewhere', '--url', 'http://127.0.0.1:1']
  for (const [args, sentence] of [
    [['install'], 'has no skills.lock with skills'],
    [['install', 'Nothing!'], "'Nothing!' is not a skill or pack"],
    [['install', 'pdf', '--agent', 'unknown-agent'], "'unknown-agent' is not a known agent. Use one of universal"],
    [['install', 'pack:'], "'pack:' is not a skill or pack"],
    [outside, 'so the skills.lock there cannot name it'],
    ...['a:b', 'a\\b', 'a\nb', '.git/skills', 'con'].map(
      (dir) =>
        [['install', 'pdf', '--dir', dir, '--url', 'http://127.0.0.1:1'], 'cannot be a folder of skills'] as const,
    ),
    [['search', 'pdf', '--url', 'http://127.0.0.1:1', '--data', '.'], 'Pass --url or --data, not both.'],
    [['--json'], 'Put the command before --json.'],
    [['remove'], 'NAME is missing. Usage: skillstead remove <NAME...>'],
    [['verify', '--url', 'http://127.0.0.1:1'], '--url needs a FILE or NAME to verify.'],
  ] as const) {
    const { code, stderr } = await project.run(...args)
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(sentence)])
  }
  const none = await project.run('remove', 'pdf')
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("'pdf' is not installed in this folder.")])
  expect(await project.files()).toEqual({})
})

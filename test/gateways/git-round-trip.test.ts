import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { appendFile, cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createClient } from '@skillstead/client'
import { createMirror } from '@skillstead/mirror'
import { gitAttributes } from '@skillstead/skill-format/archives'
import { expect, it, onTestFinished } from 'vitest'
import { makeFolder, skillstead, skillsteadJson } from '../support/cli-harness.ts'
import { openGit } from '../support/git-program.ts'
import { startNode } from '../support/server-harness.ts'

const toSkillMd = (name: string) => `---\nname: ${name}\ndescription: Carries ${name} to other nodes\n---\n# ${name}\n`

/** Names and bytes that a clone would change, if the node did not. */
const skills: Record<string, Record<string, string>> = {
  plain: { 'scripts/run.sh': '#!/bin/sh\necho hi\n', 'ends.txt': 'one\r\ntwo\n' },
  filtered: { '.gitattributes': '* filter=lfs text eol=crlf\n', 'sub/.gitattributes': gitAttributes, 'a.png': 'image' },
  suffixed: { '.gitattributes.skill': 'x', '.gitmodules/a.txt': 'y', '.GITMODULES.SKILL': 'z', 'a.skill': 'kept' },
  settings: { '.lfsconfig': '[lfs]\n', '.gitmodules': '[submodule "x"]\n', 'sub/gitmod~1': 'x' },
}

/** A node with the skills, and a second registry as a folder. */
async function startPair() {
  const fixture = await startNode({ rates: 'off' })
  const { api, node, registry } = fixture
  const digests: Record<string, string | null> = {}
  for (const [name, files] of Object.entries(skills)) {
    const list = Object.entries(files).map(([path, content]) => ({ path, content }))
    digests[name] = (await api.publishSkill({ skillMd: toSkillMd(name), version: '1.0.0', files: list })).version.digest
  }
  const mirror = createMirror(registry)
  onTestFinished(() => mirror.close())
  const data = ['--data', join(await makeFolder(), 'data')]
  await skillsteadJson(['users', 'create', 'eve', ...data])
  return {
    ...fixture,
    digests,
    base: `${node.url}/git`,
    mirror,
    digestOf: async (name: string) => (await api.getSkill({ name })).digest,
    async importAt(path: string) {
      const args = ['import', path, '--owner', 'eve', ...data]
      return skillsteadJson<Record<'omitted' | 'changed', { path: string; reason: string }[]>>(args)
    },
    readImported: async (name: string) =>
      (await skillsteadJson<{ digest: string }>(['show', `eve/${name}`, ...data])).digest,
  }
}

it('the skills of an owner keep their digests in a git mirror, a folder mirror and an import of a clone', async () => {
  const { base, digestOf, digests, importAt, mirror, readImported } = await startPair()
  const git = await openGit()
  await git.run('clone', '-q', `${base}/alice.git`, 'all')
  const clone = join(git.folder, 'all')
  for (const [place, kind] of [
    [clone, 'git'],
    [clone, 'folder'],
    [`${base}/alice.git`, 'git'],
  ] as const) {
    const owner = `of-${kind}-${place.length}`
    await mirror.add(owner, place, { kind, filters: { owners: [owner] } })
    expect(await mirror.sync(owner)).toMatchObject({ refusedTotal: 0 })
    for (const name in digests) expect(await digestOf(`${owner}/${name}`), name).toBe(digests[name])
  }
  const { changed, omitted } = await importAt(clone)
  for (const [name, digest] of Object.entries(digests)) expect(await readImported(name), name).toBe(digest)
  // The clone is a plugin, whose files other than skills stay behind.
  expect(omitted.map(({ path }) => path).toSorted()).toEqual([
    '.agents',
    '.claude-plugin',
    '.git',
    '.gitattributes',
    'plugin.json',
  ])
  expect(changed.map(({ path }) => path).filter((path) => path.includes('filtered'))).toEqual([
    'all/skills/filtered/.gitattributes.skill',
    'all/skills/filtered/sub/.gitattributes.skill',
  ])
  expect(changed[0]!.reason).toBe('The file was published as .gitattributes.')
})

it('a cloned skill keeps its digest when mirrored, imported, or published as a folder, archive or list of files', async () => {
  const { base, createUser, digestOf, digests, importAt, mirror, node, readImported } = await startPair()
  const git = await openGit()
  const keys = { ann: await createUser('ann', 'team'), bea: await createUser('bea', 'team') }
  const cid = createClient({ baseUrl: node.url, apiKey: await createUser('cid', 'team') })
  for (const [name, digest] of Object.entries(digests)) {
    await git.run('clone', '-q', `${base}/alice/${name}.git`)
    const clone = join(git.folder, name)
    await mirror.add(name, clone, { kind: 'git', filters: { owners: ['gitti'] } })
    await mirror.sync(name)
    expect(await digestOf(`gitti/${name}`), name).toBe(digest)
    const { omitted } = await importAt(clone)
    expect(omitted.map(({ path }) => path)).toEqual([`${name}/.git`, `${name}/.gitattributes`])
    expect(await readImported(name), name).toBe(digest)
    await git.run('-C', name, 'archive', '--format=zip', `--output=../${name}.zip`, 'HEAD')
    await git.run('-C', name, 'archive', '--format=tar.gz', `--output=../${name}.tar.gz`, `--prefix=${name}/`, 'HEAD')
    for (const [owner, path] of [
      ['ann', clone],
      ['bea', `${clone}.zip`],
      ['ann', `${clone}.tar.gz`],
    ] as const) {
      await skillsteadJson(['publish', path, '--url', node.url], { env: { SKILLSTEAD_KEY: keys[owner] } })
      expect(await digestOf(`${owner}/${name}`), path).toBe(digest)
    }
    const names = (await git.run('-C', name, 'ls-files', '-z')).split('\0').filter((path) => path !== 'SKILL.md')
    const files = names.filter(Boolean).map((path) => ({ path, content: readFileSync(join(clone, path), 'utf8') }))
    const { omitted: dropped, version } = await cid.publishSkill({ skillMd: toSkillMd(name), files })
    expect(dropped).toMatchObject([{ path: '.gitattributes' }])
    expect(version.digest).toBe(digest)
  }
})

it('a skill folder in a clone of an owner has the digest of the published version', async () => {
  const { base, createUser, digestOf, digests, importAt, mirror, node, readImported } = await startPair()
  const git = await openGit()
  await git.run('clone', '-q', `${base}/alice.git`, 'all')
  const folder = join(git.folder, 'all/skills')
  const env = { SKILLSTEAD_KEY: await createUser('ann', 'team') }
  await mirror.add('below', folder, { kind: 'folder', filters: { owners: ['below'] } })
  expect(await mirror.sync('below')).toMatchObject({ refusedTotal: 0 })
  expect((await importAt(folder)).omitted).toEqual([])
  for (const [name, digest] of Object.entries(digests)) {
    await skillsteadJson(['publish', join(folder, name), '--url', node.url], { env })
    for (const owner of ['ann', 'below']) expect(await digestOf(`${owner}/${name}`), `${owner} ${name}`).toBe(digest)
    expect(await readImported(name), name).toBe(digest)
  }
  const { stdout } = await skillstead(['lint', join(folder, 'filtered'), '--json'])
  expect(stdout).toContain('The file was published as sub/.gitattributes.')
})

it('an import keeps file names if the folder is its own git repository, or if .gitattributes of the clone changed', async () => {
  const { base, importAt } = await startPair()
  const git = await openGit()
  await git.run('clone', '-q', `${base}/alice.git`, 'all')
  const root = join(git.folder, 'all')
  const skill = join(root, 'skills/settings')
  const changedOf = async (folder: string) => (await importAt(folder)).changed.length
  expect(await changedOf(skill)).toBe(3)
  await git.run('init', '-q', 'all/skills/settings')
  expect(await changedOf(skill)).toBe(0)
  await rm(join(skill, '.git'), { recursive: true })
  // A worktree, and a submodule, have a file.
  await writeFile(join(skill, '.git'), 'gitdir: elsewhere\n')
  expect(await changedOf(skill)).toBe(0)
  await rm(join(skill, '.git'))
  for (const attributes of [`${gitAttributes}\n`, gitAttributes.replace('-filter', '-filtex'), '']) {
    await writeFile(join(root, '.gitattributes'), attributes)
    expect(await changedOf(skill)).toBe(0)
  }
  await rm(join(root, '.gitattributes'))
  await mkdir(join(root, '.gitattributes'))
  expect(await changedOf(skill)).toBe(0)
})

it('verify accepts a clone, a skill in a clone of its owner, and a copy of that skill', async () => {
  const { base, node } = await startPair()
  const git = await openGit()
  const home = await makeFolder()
  await git.run('clone', '-q', `${base}/alice.git`, 'all')
  for (const name of Object.keys(skills)) {
    await git.run('clone', '-q', `${base}/alice/${name}.git`)
    await cp(join(git.folder, 'all/skills', name), join(git.folder, 'copies', name), { recursive: true })
    const verify = (folder: string) =>
      skillstead(['verify', `alice/${name}`, '--url', node.url, '--content', join(git.folder, folder)], {
        env: { HOME: home },
      })
    for (const folder of [name, `all/skills/${name}`, `copies/${name}`]) {
      const { code, stdout } = await verify(folder)
      expect(code, `${folder}: ${stdout}`).toBe(0)
    }
    await writeFile(join(git.folder, name, 'added.txt'), 'Added.')
    const { code, stdout } = await verify(name)
    expect(code).toBe(1)
    // The report has the published names, and finds no other difference.
    expect(stdout).toContain('added.txt')
    expect(stdout).not.toContain('.gitattributes.skill ')
  }
})

it('publish, mirror and import refuse a clone if two files would get the same name, and state the name', async () => {
  const { base, importAt, key, mirror, node } = await startPair()
  const git = await openGit()
  await git.run('clone', '-q', `${base}/alice/settings.git`)
  const clone = join(git.folder, 'settings')
  await writeFile(join(clone, '.GITMODULES'), 'A second file.')
  const published = await skillstead(['publish', clone, '--url', node.url], { env: { SKILLSTEAD_KEY: key } })
  expect(published).toMatchObject({ code: 1, stderr: expect.stringContaining("equals '.GITMODULES'") })
  await mirror.add('twice', clone, { kind: 'folder', filters: { owners: ['twice'] } })
  const synced = await mirror.sync('twice')
  expect(synced).toMatchObject({ applied: 0, refusedTotal: 1 })
  expect(synced.refused[0]!.detail).toContain('.gitmodules')
  expect(await importAt(clone)).toMatchObject({
    taken: 0,
    refusals: [{ reason: expect.stringContaining('.gitmodules') }],
  })
})

it('an import keeps file names in a repository that was not cloned from a node', async () => {
  const { importAt, mirror, api } = await startPair()
  const folder = join(await makeFolder(), 'foreign')
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=ann', '-c', 'user.email=ann@example.com', ...args], { cwd: folder })
  /** Nothing of a node, a file that was changed, and one below the skill. */
  const repositories: Record<string, Record<string, string>> = {
    bare: {},
    edited: { '.gitattributes': `${gitAttributes}*.png filter=lfs\n` },
    longer: { '.gitattributes': gitAttributes.replace('-filter', '-filtex') },
    below: { 'sub/.gitattributes': gitAttributes, 'sub/.lfsconfig.skill': 'x' },
  }
  for (const [name, attributes] of Object.entries(repositories)) {
    const own = { '.gitattributes.skill': 'x', 'a.skill': 'y', ...attributes, 'SKILL.md': toSkillMd(name) }
    for (const [path, content] of Object.entries(own)) {
      await mkdir(dirname(join(folder, name, path)), { recursive: true })
      await writeFile(join(folder, name, path), content)
    }
  }
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'all')
  await mirror.add('foreign', folder, { kind: 'git', filters: { owners: ['foreign'] } })
  await mirror.sync('foreign')
  for (const [name, attributes] of Object.entries(repositories)) {
    const { files } = await api.getSkill({ name: `foreign/${name}` })
    const paths = ['.gitattributes.skill', 'SKILL.md', 'a.skill', ...Object.keys(attributes)]
    expect(files.map(({ path }) => path).toSorted()).toEqual(paths.toSorted())
  }
  await appendFile(join(folder, 'bare/a.skill'), 'more')
  expect((await importAt(folder)).changed).toEqual([])
})

import { localApi, systemCaller } from '@skillstead/core'
import { describe, expect, it } from 'vitest'
import { notice } from '../support/dmca-cases.ts'
import { type GitFixture, startGit, toSkillMd } from '../support/git-acts.ts'
import { findSchemaProblems } from '../support/plugin-acts.ts'
import { fetchObjects, fetchPack, listRefs, type PackedObject, readEntries } from '../support/git-client.ts'

const readHead = async (repository: string) => (await listRefs(repository)).HEAD!

/** All objects of a repository and its commits, newest first. */
async function readHistory(repository: string) {
  const head = await readHead(repository)
  const objects = await fetchObjects(repository, [head])
  const commits: { id: string; message: string; tree: string }[] = []
  for (let id: string | undefined = head; id !== undefined;) {
    const text = objects.get(id)!.bytes.toString()
    const [top, message] = text.split('\n\n') as [string, string]
    commits.push({ id, message: message.trim(), tree: top.slice('tree '.length, 45) })
    id = /^parent (\w{40})$/m.exec(top)?.[1]
  }
  return { objects, commits, messages: commits.map(({ message }) => message) }
}

/** The files of a tree by path. */
function readFiles(objects: ReadonlyMap<string, PackedObject>, tree: string): Record<string, string> {
  const files: Record<string, string> = {}
  const { bytes } = objects.get(tree)!
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0, at)
    const [mode, name] = bytes.toString('utf8', at, end).split(' ') as [string, string]
    const id = bytes.toString('hex', end + 1, end + 21)
    at = end + 21
    if (mode !== '40000') files[name] = objects.get(id)!.bytes.toString()
    else for (const [path, text] of Object.entries(readFiles(objects, id))) files[`${name}/${path}`] = text
  }
  return files
}

describe('the history of the skills of an owner', () => {
  it('lists no Claude Code plugin for a skill whose files contain hooks', async () => {
    const { base, publish } = await startGit()
    const read = async () => {
      const { objects, commits } = await readHistory(`${base}/alice.git`)
      const files = readFiles(objects, commits[0]!.tree)
      return ['.agents/plugins', '.claude-plugin'].map((folder) =>
        (JSON.parse(files[`${folder}/marketplace.json`]!) as { plugins: { name: string }[] }).plugins.map(
          ({ name }) => name,
        ),
      )
    }
    const all = ['alice', 'hooked', 'pdf', 'tables']
    await publish('hooked', '1.0.0')
    expect(await read()).toEqual([all, all])
    await publish('hooked', '1.1.0', { files: [{ path: 'hooks/hooks.json', content: '{}' }] })
    expect(await read()).toEqual([all, ['alice', 'pdf', 'tables']])
    await publish('hooked', '1.2.0')
    expect(await read()).toEqual([all, all])
  })

  it('contains a valid Agent Plugins manifest in each commit, with the keywords of that commit', async () => {
    const { base, publish } = await startGit()
    await publish('forms', '1.0.0', { license: 'ISC', keywords: ['office'] })
    await publish('pdf', '9.0.0', { license: 'ISC', keywords: ['paper'] })
    const { objects, commits } = await readHistory(`${base}/alice.git`)
    const manifests = commits.map(
      ({ tree }) => JSON.parse(readFiles(objects, tree)['plugin.json']!) as { name: string; keywords?: string[] },
    )
    expect(manifests.flatMap(findSchemaProblems)).toEqual([])
    expect(manifests[0]).toMatchObject({ name: 'alice', author: { name: 'alice' }, keywords: ['office', 'paper'] })
    expect(manifests[1]!.keywords).toEqual(['office'])
    expect(manifests.at(-1)).not.toHaveProperty('keywords')
  })

  it('stores a skill named hooks under another folder name, so that a plugin runs no file of the skill', async () => {
    const { base, publish } = await startGit()
    await publish('hooks', '1.0.0', { files: [{ path: 'hooks.json', content: '{}' }] })
    const { objects, commits } = await readHistory(`${base}/alice.git`)
    const paths = Object.keys(readFiles(objects, commits[0]!.tree))
    expect(paths).toContain('skills/alice-hooks/hooks.json')
    expect(paths.filter((path) => path.startsWith('skills/hooks/'))).toEqual([])
  })

  it('has a commit for each published version, with the state of the skills at that time', async () => {
    const { base, publish } = await startGit()
    await publish('pdf', '2.0.0')
    const { objects, commits, messages } = await readHistory(`${base}/alice.git`)
    expect(messages).toEqual(['alice/pdf 2.0.0', 'alice/tables 2.0.0', 'alice/tables 1.0.0', 'alice/pdf 1.0.0'])
    const [last, , second, first] = commits.map(({ tree }) => readFiles(objects, tree))
    expect(Object.keys(last!)).toEqual([
      '.agents/plugins/marketplace.json',
      '.claude-plugin/marketplace.json',
      '.gitattributes',
      'plugin.json',
      'skills/pdf/SKILL.md',
      'skills/pdf/notes/a.txt',
      'skills/tables/SKILL.md',
      'skills/tables/notes/a.txt',
    ])
    expect(last!['skills/tables/SKILL.md']).toContain('Version 2.0.0.')
    expect(second!['skills/tables/SKILL.md']).toContain('Version 1.0.0.')
    expect(Object.keys(first!).filter((path) => path.startsWith('skills/'))).toEqual(['skills/pdf/SKILL.md'])
    for (const path of ['.agents/plugins/marketplace.json', '.claude-plugin/marketplace.json']) {
      const plugins = [last, second, first].map((files) =>
        (JSON.parse(files![path]!) as { plugins: { name: string; version?: string }[] }).plugins
          .map(({ name, version = 'bundle' }) => `${name} ${version}`)
          .join(', '),
      )
      expect(plugins).toEqual([
        'alice bundle, pdf 2.0.0, tables 2.0.0',
        'alice bundle, pdf 1.0.0, tables 1.0.0',
        'alice bundle, pdf 1.0.0',
      ])
    }
  })

  it('continues after a publication, and a client fetches only the new objects', async () => {
    const { base, publish } = await startGit()
    const repository = `${base}/alice.git`
    const before = await readHistory(repository)
    await publish('third', '1.0.0', { files: [] })
    await publish('third', '1.1.0', { files: [] })
    const after = await readHistory(repository)
    expect(after.commits.slice(2)).toEqual(before.commits)
    const have = `have ${before.commits[0]!.id}`
    for (const [reads, deltas] of [
      [[], 3],
      // A delta whose base is in the client is no whole base for the next one.
      [['thin-pack'], 3],
      [['ofs-delta'], 3],
      [['thin-pack', 'ofs-delta'], 6],
    ] as const) {
      const pack = await fetchPack(repository, [after.commits[0]!.id], [...reads, have, 'done'])
      const kinds = readEntries(pack).map(({ kind }) => kind)
      expect(kinds.filter((kind) => kind === 'commit')).toHaveLength(2)
      // The list of the folders and two documents, for two commits: the bases for the first are in the client.
      expect(kinds.filter((kind) => kind === 'delta')).toHaveLength(deltas)
      const added = await fetchObjects(repository, [after.commits[0]!.id], [...reads, have, 'done'], before.objects)
      expect(new Map([...before.objects, ...added])).toEqual(after.objects)
      expect([...added.keys()].filter((id) => before.objects.has(id))).toEqual([])
    }
  })

  it('has no commit for a version that is lower than the current version', async () => {
    const { base, publish } = await startGit()
    const before = await readHead(`${base}/alice.git`)
    await publish('tables', '1.0.1')
    expect(await readHead(`${base}/alice.git`)).toBe(before)
  })

  it('sends the complete current state for a clone with depth 1', async () => {
    const { base } = await startGit()
    const { objects, commits } = await readHistory(`${base}/alice.git`)
    const { id, tree } = commits[0]!
    const shallow = await fetchObjects(`${base}/alice.git`, [id], ['deepen 1', 'done'])
    expect(readFiles(shallow, tree)).toEqual(readFiles(objects, tree))
    expect([...shallow.values()].filter(({ kind }) => kind === 'commit')).toHaveLength(1)
    const entries = readEntries(await fetchPack(`${base}/alice.git`, [id], ['deepen 1', 'done']))
    expect(entries.map(({ kind }) => kind)).not.toContain('delta')
  })

  it('keeps its commit ids when the owner changes the description of a skill', async () => {
    const { api, base } = await startGit()
    const before = await readHead(`${base}/alice.git`)
    await api.publishSkill({ name: 'alice/tables', description: 'Another text' })
    expect((await api.getSkill({ name: 'alice/tables' })).description).toBe('Another text')
    expect(await readHead(`${base}/alice.git`)).toBe(before)
  })

  it('has the same commit ids on another node', async () => {
    const heads = []
    for (const order of [false, true]) {
      const { base, publish } = await startGit()
      // The first node has built a part of the history before.
      if (order) await readHead(`${base}/alice.git`)
      await publish('other', '1.0.0')
      heads.push(await readHead(`${base}/alice.git`))
    }
    expect(heads[0]).toBe(heads[1])
  })

  const removals: [string, (fixture: GitFixture) => Promise<unknown>][] = [
    ['turned private', ({ api }) => api.publishSkill({ name: 'alice/other', visibility: 'private' })],
    ['was deleted', ({ api }) => api.deleteSkill({ name: 'alice/other' })],
    ['was yanked', ({ api }) => api.yankVersion({ name: 'alice/other', version: '1.0.0' })],
    ['was taken down', takeDown],
  ]

  it.each(removals)('is built again without a skill that %s', async (_, remove) => {
    const fixture = await startGit()
    const { base, publish } = fixture
    const repository = `${base}/alice.git`
    const older = await readHistory(repository)
    await publish('other', '1.0.0', { skillMd: toSkillMd('other', 'Removed text.'), files: [] })
    await publish('tables', '3.0.0')
    const before = await readHistory(repository)
    expect(JSON.stringify(toTexts(before.objects))).toMatch(/other.*Removed text/)
    await remove(fixture)
    const after = await readHistory(repository)
    expect(after.messages).toEqual(before.messages.filter((message) => !message.includes('other')))
    expect(after.commits.slice(1)).toEqual(older.commits)
    expect(after.commits[0]!.id).not.toBe(before.commits[0]!.id)
    expect(JSON.stringify(toTexts(after.objects))).not.toMatch(/other|Removed text/)
    for (const { id } of before.commits.slice(0, 2)) {
      await expect(fetchObjects(repository, [id])).rejects.toThrow(`ERR upload-pack: not our ref ${id}`)
    }
  })
})

describe('the history of a pack', () => {
  it('contains only the pinned version of a pinned skill, and each new version of other skills', async () => {
    const { api, base, publish } = await startGit()
    const skills = [{ name: 'alice/tables', version: '1.0.0' }, { name: 'alice/pdf' }]
    await api.createPack({ name: 'Files', slug: 'files', description: '', skills })
    const repository = `${base}/packs/files.git`
    const before = await readHistory(repository)
    await publish('pdf', '2.0.0')
    await publish('tables', '3.0.0')
    const { commits, messages } = await readHistory(repository)
    expect(messages).toEqual(['alice/pdf 2.0.0', 'alice/tables 1.0.0', 'alice/pdf 1.0.0'])
    expect(commits.slice(1)).toEqual(before.commits)
  })

  it('keeps the folders of skills when another skill of the same name is published', async () => {
    const { api, apiOf, base, createUser, publish } = await startGit()
    await createUser('aaron')
    const skills = [{ name: 'alice/tables' }]
    await api.createPack({ name: 'Files', slug: 'files', description: '', skills })
    const before = await readHistory(`${base}/packs/files.git`)
    await publish('later', '1.0.0')
    await (await apiOf('aaron')).publishSkill({ skillMd: toSkillMd('tables', 'Of aaron.') })
    await api.updatePack({ slug: 'files', skills: [{ name: 'aaron/tables' }, ...skills] })
    const { objects, commits } = await readHistory(`${base}/packs/files.git`)
    expect(commits.slice(1)).toEqual(before.commits)
    const files = readFiles(objects, commits[0]!.tree)
    expect(files['skills/aaron-tables/SKILL.md']).toContain('Of aaron.')
    expect(files['skills/tables/SKILL.md']).toContain('Version 2.0.0.')
  })
})

async function takeDown({ registry }: GitFixture) {
  const { id } = await localApi(registry).submitDmca({ skillName: 'alice/other', ...notice })
  await localApi(registry, systemCaller).updateDmca({ id, status: 'removed' })
}

const toTexts = (objects: ReadonlyMap<string, PackedObject>) =>
  [...objects.values()].map(({ bytes }) => bytes.toString('latin1'))

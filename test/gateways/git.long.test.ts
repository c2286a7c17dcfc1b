import { execFileSync } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { localApi } from '@skillstead/core'
import type { RegistryApi } from '@skillstead/protocol'
import { describe, expect, it } from 'vitest'
import { openGit } from '../support/git-program.ts'
import { startNode, type Fixture } from '../support/server-harness.ts'

const skillMd = (name: string, text: string) =>
  `---\nname: ${name}\ndescription: Reads files\n---\n# ${name}\n\n${text}\n`

/** A node with `alice/tables` in three versions, of which 2.0.0 is yanked. */
async function startWithHistory(): Promise<Fixture & { readonly base: string }> {
  const fixture = await startNode()
  const { api, node } = fixture
  for (const version of ['1.0.0', '1.1.0', '2.0.0']) {
    const files = [
      { path: 'scripts/read.py', content: `print("${version}")\n` },
      { path: 'scripts.txt', content: 'The same in all versions.\n' },
      {
        path: 'scripts/sub/data.bin',
        content: Buffer.alloc(300_000, version).toString('base64'),
        encoding: 'base64' as const,
      },
    ]
    await api.publishSkill({ skillMd: skillMd('tables', `Version ${version}.`), version, files })
  }
  await api.yankVersion({ name: 'alice/tables', version: '2.0.0' })
  return { ...fixture, base: `${node.url}/git` }
}

const protocols = ['0', '1', '2'].map((version) => ['-c', `protocol.version=${version}`])

describe.each(protocols)('git with %s %s', (...protocol: string[]) => {
  it('clones a skill with its history and tags', async () => {
    const { base } = await startWithHistory()
    const git = await openGit()
    await git.run(...protocol, 'clone', `${base}/alice/tables.git`)
    expect(await git.run('-C', 'tables', 'fsck', '--strict', '--full')).toBe('')
    expect(await git.run('-C', 'tables', 'log', '--format=%an %s')).toBe('alice tables 1.1.0\nalice tables 1.0.0')
    expect(await git.run('-C', 'tables', 'tag')).toBe('v1.0.0\nv1.1.0')
    expect(await git.run('-C', 'tables', 'cat-file', '-t', 'v1.1.0')).toBe('tag')
    expect((await readdir(join(git.folder, 'tables'))).toSorted()).toEqual([
      '.git',
      '.gitattributes',
      'SKILL.md',
      'scripts',
      'scripts.txt',
    ])
    expect(await readFile(join(git.folder, 'tables/scripts/read.py'), 'utf8')).toBe('print("1.1.0")\n')
    expect((await readFile(join(git.folder, 'tables/scripts/sub/data.bin'))).length).toBe(300_000)
  })

  it('clones a single commit, deepens the clone, and makes it complete', async () => {
    const { api, base } = await startWithHistory()
    await api.publishSkill({ skillMd: skillMd('tables', 'Three.'), version: '3.0.0' })
    const git = await openGit()
    await git.run(...protocol, 'clone', '--depth', '1', `${base}/alice/tables.git`)
    const count = () => git.run('-C', 'tables', 'rev-list', '--count', 'HEAD')
    expect(await count()).toBe('1')
    await git.run('-C', 'tables', ...protocol, 'fetch', '--deepen', '1')
    expect(await count()).toBe('2')
    await git.run('-C', 'tables', ...protocol, 'fetch', '--depth', '3')
    expect(await count()).toBe('3')
    await git.run('-C', 'tables', ...protocol, 'fetch', '--unshallow')
    // 2.0.0 is yanked: it stays in the history of 3.0.0.
    expect(await git.run('-C', 'tables', 'log', '--format=%s')).toBe(
      ['3.0.0', '2.0.0', '1.1.0', '1.0.0'].map((version) => `tables ${version}`).join('\n'),
    )
    expect(await git.run('-C', 'tables', 'rev-parse', '--is-shallow-repository')).toBe('false')
    expect(await git.run('-C', 'tables', 'fsck', '--strict', '--full', '--no-dangling')).toBe('')
  })

  it('clones a tag, a tag without history, and history since a time', async () => {
    const { base } = await startWithHistory()
    const git = await openGit()
    const url = `${base}/alice/tables.git`
    await git.run(...protocol, 'clone', '--depth', '1', '--branch', 'v1.0.0', url, 'old')
    expect(await git.run('-C', 'old', 'log', '--format=%s')).toBe('tables 1.0.0')
    await git.run(...protocol, 'clone', '--depth', '1', '--no-single-branch', url, 'all')
    expect(await git.run('-C', 'all', 'tag')).toBe('v1.0.0\nv1.1.0')
    await git.run(...protocol, 'clone', '--shallow-exclude', 'v1.0.0', url, 'newer')
    expect(await git.run('-C', 'newer', 'log', '--format=%s')).toBe('tables 1.1.0')
    await git.run(...protocol, 'clone', '--shallow-since', '2001-01-01', url, 'since')
    expect(await git.run('-C', 'since', 'rev-list', '--count', 'HEAD')).toBe('2')
    const late = await git.try(...protocol, 'clone', '--shallow-since', '2099-01-01', url, 'late')
    expect(late.stderr).toContain('no commits selected for shallow requests')
  })

  it('lists references', async () => {
    const { base } = await startWithHistory()
    const git = await openGit()
    const lines = (await git.run(...protocol, 'ls-remote', '--symref', `${base}/alice/tables.git`)).split('\n')
    const names = lines.map((line) => line.split('\t')[1])
    expect(lines[0]).toBe('ref: refs/heads/main\tHEAD')
    expect(names.slice(1)).toEqual([
      'HEAD',
      'refs/heads/main',
      'refs/tags/v1.0.0',
      'refs/tags/v1.0.0^{}',
      'refs/tags/v1.1.0',
      'refs/tags/v1.1.0^{}',
    ])
    expect(await git.run(...protocol, 'ls-remote', '--heads', `${base}/alice/tables.git`)).toMatch(
      /^\w{40}\trefs\/heads\/main$/,
    )
  })

  it('fetches only the objects that a new version adds', async () => {
    const { api, base } = await startWithHistory()
    const git = await openGit()
    await git.run(...protocol, 'clone', `${base}/alice/tables.git`)
    await git.run(...protocol, 'clone', '--depth', '1', `${base}/alice/tables.git`, 'shallow')
    const same = [{ path: 'scripts.txt', content: 'The same in all versions.\n' }]
    await api.publishSkill({ skillMd: skillMd('tables', 'Three.'), version: '3.0.0', files: same })
    await git.run('-C', 'tables', 'config', 'fetch.unpackLimit', '1')
    const before = new Set(await readdir(join(git.folder, 'tables/.git/objects/pack')))
    await git.run('-C', 'tables', ...protocol, 'pull')
    await git.run('-C', 'shallow', ...protocol, 'pull')
    for (const folder of ['tables', 'shallow']) {
      expect(await git.run('-C', folder, 'log', '-1', '--format=%s')).toBe('tables 3.0.0')
      expect(await git.run('-C', folder, 'tag')).toContain('v3.0.0')
      expect(await git.run('-C', folder, 'fsck', '--strict', '--full')).toBe('')
    }
    const added = (await readdir(join(git.folder, 'tables/.git/objects/pack'))).filter((name) => !before.has(name))
    const index = added.find((name) => name.endsWith('.idx'))!
    const objects = await git.run('-C', 'tables', 'verify-pack', '-v', `.git/objects/pack/${index}`)
    // Two commits, because 2.0.0 is between them, the tag, and what they change. Not scripts.txt.
    const unchanged = await git.run('-C', 'tables', 'rev-parse', 'HEAD:scripts.txt')
    expect(objects).not.toContain(unchanged)
    expect(objects.match(/ commit /g)).toHaveLength(2)
    const silent = await git.run('-C', 'tables', ...protocol, 'fetch')
    expect(silent).toBe('')
  })

  it('clones the skills of an owner and of a pack', async () => {
    const { api, base } = await startWithHistory()
    await api.publishSkill({ skillMd: skillMd('secret', 'Private.'), visibility: 'private' })
    await api.createPack({
      name: 'Files',
      slug: 'files',
      description: '',
      skills: [{ name: 'alice/tables', version: '1.0.0' }],
    })
    const git = await openGit()
    await git.run(...protocol, 'clone', '--depth', '1', `${base}/alice.git`)
    expect((await readdir(join(git.folder, 'alice/skills'))).toSorted()).toEqual(['pdf', 'tables'])
    expect(await git.run('-C', 'alice', 'fsck', '--strict', '--full')).toBe('')
    await git.run('-C', 'alice', ...protocol, 'fetch', '--unshallow')
    const messages = ['alice/tables 1.1.0', 'alice/tables 1.0.0', 'alice/pdf 1.0.0']
    expect(await git.run('-C', 'alice', 'log', '--format=%s')).toBe(messages.join('\n'))
    expect(await git.run('-C', 'alice', 'fsck', '--strict', '--full', '--no-dangling')).toBe('')
    await git.run(...protocol, 'clone', `${base}/packs/files.git`)
    expect(await readFile(join(git.folder, 'files/skills/tables/scripts/read.py'), 'utf8')).toBe('print("1.0.0")\n')
  })

  it('pulls the skills of an owner after a publication', async () => {
    const { api, base } = await startWithHistory()
    const git = await openGit()
    await git.run(...protocol, 'clone', `${base}/alice.git`)
    await git.run(...protocol, 'clone', '--depth', '1', `${base}/alice.git`, 'shallow')
    await api.publishSkill({ skillMd: skillMd('fresh', 'New.') })
    await api.publishSkill({ skillMd: skillMd('tables', 'Three.'), version: '3.0.0' })
    for (const folder of ['alice', 'shallow']) {
      await git.run('-C', folder, 'config', 'fetch.unpackLimit', '1')
      await git.run('-C', folder, ...protocol, 'pull', '--ff-only')
      expect(await git.run('-C', folder, 'log', '-2', '--format=%s')).toBe('alice/tables 3.0.0\nalice/fresh 1.0.0')
      expect(await git.run('-C', folder, 'fsck', '--strict', '--full')).toBe('')
      expect(await git.run('-C', folder, 'status', '--porcelain')).toBe('')
      expect((await readdir(join(git.folder, folder, 'skills'))).toSorted()).toEqual(['fresh', 'pdf', 'tables'])
    }
  })

  it.each([
    ['was deleted', (api) => api.deleteSkill({ name: 'alice/fresh' })],
    ['was yanked', (api) => api.yankVersion({ name: 'alice/fresh', version: '1.0.0' })],
    ['turned private', (api) => api.publishSkill({ name: 'alice/fresh', visibility: 'private' })],
  ] satisfies [string, (api: RegistryApi) => Promise<unknown>][])(
    'pulls with --rebase after a skill %s, which no fast-forward can follow',
    async (_, remove) => {
      const { api, base } = await startWithHistory()
      await api.publishSkill({ skillMd: skillMd('fresh', 'New.') })
      const git = await openGit()
      await git.run(...protocol, 'clone', `${base}/alice.git`, 'whole')
      await git.run(...protocol, 'clone', '--depth', '1', `${base}/alice.git`, 'shallow')
      await git.run(...protocol, 'clone', `${base}/alice.git`, 'edited')
      const edit = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.com']
      await writeFile(join(git.folder, 'edited/notes.txt'), 'Mine.')
      await git.run('-C', 'edited', 'add', 'notes.txt')
      await git.run('-C', 'edited', ...edit, 'commit', '-q', '-m', 'mine')
      await remove(api)
      await api.publishSkill({ skillMd: skillMd('later', 'Later.') })
      for (const folder of ['whole', 'shallow', 'edited']) {
        const refused = await git.try('-C', folder, ...protocol, 'pull', '--ff-only')
        expect(refused.stderr).toContain('Not possible to fast-forward')
        await git.run('-C', folder, ...edit, ...protocol, 'pull', '--rebase')
        expect((await readdir(join(git.folder, folder, 'skills'))).toSorted()).toEqual(['later', 'pdf', 'tables'])
        const newest = await git.run('-C', folder, 'log', '-2', '--format=%s')
        expect(newest.split('\n')[0]).toBe(folder === 'edited' ? 'mine' : 'alice/later 1.0.0')
        expect(newest).not.toContain('fresh')
      }
    },
  )

  it('needs an API key or a share token for a private skill', async () => {
    const { api, base, key } = await startWithHistory()
    await api.publishSkill({ skillMd: skillMd('secret', 'Private.'), visibility: 'private' })
    const { token } = await api.createShare({ name: 'alice/secret' })
    const git = await openGit()
    const withPassword = (password: string, path: string) => `${base}/${path}`.replace('//', `//git:${password}@`)
    for (const password of [key, token!]) {
      await git.run(...protocol, 'clone', withPassword(password, 'alice/secret.git'), password.slice(0, 4))
      expect(await git.run('-C', password.slice(0, 4), 'log', '--format=%s')).toBe('secret 1.0.0')
    }
    const wrong = await git.try(...protocol, 'clone', withPassword('ssk_wrong', 'alice/secret.git'), 'wrong')
    expect(wrong.stderr).toContain('Authentication failed')
    const answers = []
    for (const path of ['alice/secret.git', 'alice/absent.git']) {
      const { code, stderr } = await git.try(...protocol, 'clone', `${base}/${path}`, 'none')
      answers.push({ code, stderr: stderr.replaceAll(/secret|absent/g, 'NAME') })
    }
    expect(answers[0]!.code).not.toBe(0)
    expect(answers[0]).toEqual(answers[1])
    const other = await git.try(...protocol, 'clone', withPassword(token!, 'alice/absent.git'), 'none')
    expect(other.stderr).toContain('remote: There is no such repository that you may read.')
  })

  it('gets an error that explains why it cannot push', async () => {
    const { base, key } = await startWithHistory()
    const git = await openGit()
    const url = `${base}/alice/tables.git`.replace('//', `//git:${key}@`)
    await git.run(...protocol, 'clone', url)
    const push = await git.try('-C', 'tables', ...protocol, 'push', 'origin', 'main:next')
    expect(push.stderr).toContain('remote: Repositories are read-only.')
  })
})

describe('git', () => {
  it('fetches a yanked version by the id of its commit', async () => {
    const { api, base } = await startWithHistory()
    const git = await openGit()
    const url = `${base}/alice/pdf.git`
    await api.publishSkill({ skillMd: skillMd('pdf', 'Two.'), version: '2.0.0' })
    const id = (await git.run('ls-remote', url, 'refs/heads/main')).split('\t')[0]!
    await api.yankVersion({ name: 'alice/pdf', version: '2.0.0' })
    expect(await git.run('ls-remote', url)).not.toContain(id)
    await git.run('init', '-q', 'pdf')
    for (const version of [0, 2]) {
      await git.run('-C', 'pdf', '-c', `protocol.version=${version}`, 'fetch', '--depth', '1', url, id)
    }
    expect(await git.run('-C', 'pdf', 'log', '-1', '--format=%s', id)).toBe('pdf 2.0.0')
  })

  it('clones a skill whose versions are all yanked as an empty repository', async () => {
    const { api, base } = await startWithHistory()
    await api.yankVersion({ name: 'alice/pdf', version: '1.0.0' })
    const git = await openGit()
    for (const version of [0, 1, 2]) {
      const config = `protocol.version=${version}`
      const { stderr } = await git.try('-c', config, 'clone', `${base}/alice/pdf.git`, `v${version}`)
      expect(stderr).toContain('empty repository')
    }
  })

  it('follows a skill to its new owner', async () => {
    const { api, base, createUser, registry } = await startWithHistory()
    await createUser('bob')
    await api.transferSkill({ name: 'alice/pdf', newOwner: 'bob' })
    await localApi(registry, await registry.getCaller('bob')).acceptTransfer({ name: 'alice/pdf' })
    const git = await openGit()
    for (const version of [0, 2]) {
      const config = `protocol.version=${version}`
      const { code, stderr } = await git.try('-c', config, 'clone', `${base}/alice/pdf.git`, `v${version}`)
      expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('redirecting to') })
      expect(await git.run('-C', `v${version}`, 'log', '--format=%an %s')).toBe('alice pdf 1.0.0')
    }
  })

  it('clones without filters, which the node does not support', async () => {
    const { base } = await startWithHistory()
    const git = await openGit()
    const { code, stderr } = await git.try('clone', '--filter', 'blob:none', `${base}/alice/tables.git`)
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('filtering not recognized') })
  })

  it('negotiates with a repository that has an unrelated long history', async () => {
    const { base } = await startWithHistory()
    const git = await openGit()
    await git.run('init', '-q', 'mine')
    const commits = Array.from({ length: 3000 }, (_, i) => {
      const from = i === 0 ? '' : `from :${i}\n`
      return `commit refs/heads/mine\nmark :${i + 1}\ncommitter A <a@a> ${1e9 + i} +0000\ndata 1\nx\n${from}\n`
    })
    execFileSync('git', ['-C', join(git.folder, 'mine'), 'fast-import', '--quiet'], { input: commits.join('') })
    for (const version of [0, 1, 2]) {
      await git.run(
        '-C',
        'mine',
        '-c',
        `protocol.version=${version}`,
        'fetch',
        `${base}/alice/tables.git`,
        `main:v${version}`,
      )
    }
    expect(await git.run('-C', 'mine', 'rev-list', '--count', 'v0')).toBe('2')
  })
})

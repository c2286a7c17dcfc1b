import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createClient } from '@skillstead/client'
import { openFolder, openZip, type SkillRecord, writeZip } from '@skillstead/skill-format/archives'
import { packTar } from 'modern-tar'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeFolder, skillstead, skillsteadJson, startServer, type Running } from '../support/cli-harness.ts'

interface Lists {
  omitted: { path: string; reason: string }[]
  changed: { path: string; reason: string }[]
}

const skillMd = (name: string) => `---\nname: ${name}\ndescription: Prepares a form.\n---\n# Form\n\nFollow own.md.\n`

/** A skill with links, files of tools, and a nested skill. A text that begins with `->` is a link. */
const files: Record<string, string> = {
  'SKILL.md': skillMd('nda'),
  'docs/real.md': 'Real.\n',
  'docs/up.md': '->../SKILL.md',
  'own.md': '->docs/real.md',
  'chain.md': '->./own.md',
  'broken.md': '->nowhere',
  'steps.md': '->../../shared/steps.md',
  'absolute.md': '->/etc/hostname',
  'docs/round.md': '->../../nda/SKILL.md',
  'loop-a': '->loop-b',
  'loop-b': '->loop-a',
  folder: '->docs',
  'tool.js': '->node_modules/x/index.js',
  'node_modules/x/index.js': 'x()',
  '.DS_Store': 'x',
  'docs/._real.md': 'x',
  '.git/config': '[core]',
  '.env.example': 'A=1\n',
  'examples/inner/SKILL.md': skillMd('inner'),
  'examples/inner/data.txt': 'data',
  'examples/inner/deep/Skill.md': skillMd('deep'),
  'examples/more.md': 'More.\n',
}
const stored = ['.env.example', 'SKILL.md', 'chain.md', 'docs/real.md', 'docs/up.md', 'examples/more.md', 'own.md']
const omitted = [
  ['.DS_Store', 'to no skill'],
  ['.git', 'run programs'],
  ['absolute.md', 'out of the skill'],
  ['broken.md', 'to no file'],
  ['docs/._real.md', 'to no skill'],
  ['docs/round.md', 'out of the skill'],
  ['examples/inner', 'a skill of its own. Hosts that search folders at any depth load it too.'],
  ['folder', 'to a folder'],
  ['loop-a', 'in a loop'],
  ['loop-b', 'in a loop'],
  ['node_modules', 'to no skill'],
  ['steps.md', 'out of the skill'],
  ['tool.js', 'to no file'],
].map(([path, reason]) => ({ path, reason: expect.stringContaining(reason!) }))
const changed = [
  ['chain.md', 'docs/real.md'],
  ['docs/up.md', 'SKILL.md'],
  ['own.md', 'docs/real.md'],
].map(([path, target]) => ({ path, reason: `The link to ${target} became a file with the content of ${target}.` }))

/** Of the nested skill, in an import or mirror. */
const innerDocument = { path: 'examples/inner/deep/Skill.md', reason: 'The file was stored as SKILL.md.' }

const entries = Object.entries(files).map(([path, text]) => {
  const isLink = text.startsWith('->')
  return { path, isLink, text: isLink ? text.slice(2) : text }
})

async function makeSkill(): Promise<string> {
  const folder = join(await makeFolder(), 'skills', 'nda')
  for (const { path, text, isLink } of entries) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await (isLink ? symlink(text, join(folder, path)) : writeFile(join(folder, path), text))
  }
  await mkdir(join(folder, '..', '..', 'shared'))
  await writeFile(join(folder, '..', '..', 'shared', 'steps.md'), 'Shared.')
  return folder
}

async function toTar(prefix: string): Promise<Buffer> {
  const headers = entries.map(({ path, text, isLink }) =>
    isLink
      ? { header: { name: prefix + path, size: 0, type: 'symlink' as const, linkname: text } }
      : { header: { name: prefix + path, size: Buffer.byteLength(text) }, body: text },
  )
  return gzipSync(await packTar(headers))
}

/** A zip as `zip -y` writes it: the content of a link is its target, and its mode says so. */
async function toZip(prefix: string): Promise<Buffer> {
  const links = new Set(entries.flatMap(({ path, isLink }) => (isLink ? [prefix + path] : [])))
  const zip = Buffer.from(
    writeZip(entries.map(({ path, text }) => ({ path: prefix + path, bytes: Buffer.from(text) }))),
  )
  const header = 'PK\u0001\u0002'
  for (let at = zip.indexOf(header); at !== -1; at = zip.indexOf(header, at + 1)) {
    const name = zip.subarray(at + 46, at + 46 + zip.readUInt16LE(at + 28)).toString()
    if (links.delete(name)) zip.writeUInt32LE(0o120777 * 0x10000, at + 38)
  }
  expect(links.size).toBe(0)
  return zip
}

/** Each puts the folder of a skill into a file or folder, and returns its path. */
const doors: [string, (folder: string) => Promise<string>][] = [
  ['a folder', async (folder) => folder],
  ['a tar.gz', async (folder) => put(folder, 'a.tar.gz', await toTar('./'))],
  ['a tar.gz with a top folder', async (folder) => put(folder, 'b.tar.gz', await toTar('nda/'))],
  ['a zip', async (folder) => put(folder, 'a.zip', await toZip(''))],
  ['a zip with a top folder', async (folder) => put(folder, 'b.zip', await toZip('nda/'))],
]

async function put(folder: string, name: string, bytes: Uint8Array): Promise<string> {
  await writeFile(join(folder, '..', name), bytes)
  return join(folder, '..', name)
}

/** The folder of the skill begins the paths of some sources. */
function withoutFolder(list: Lists['omitted']): Lists['omitted'] {
  return list.map(({ path, reason }) => ({ path: path.replace(/^nda\//, ''), reason }))
}

describe.skipIf(process.platform === 'win32')(
  'the stored files of a skill (not on Windows: the skill has symbolic links)',
  () => {
    let server: Running
    let data: string
    let env: Record<string, string>
    beforeAll(async () => {
      data = join(await makeFolder(), 'data')
      const { key } = await skillsteadJson<{ key: string }>(['users', 'create', 'alice', '--data', data])
      env = { SKILLSTEAD_KEY: key }
      server = await startServer(['serve', '--port', '0', '--data', data])
    })

    it.each(doors)(
      'are the expected files after a publish of %s, which lists the omitted and changed files',
      async (_, open) => {
        const place = await open(await makeSkill())
        for (const more of [['--dry-run'], []]) {
          const answer = await skillsteadJson<Lists>(['publish', place, '--url', server.url, ...more], { env })
          expect({ omitted: answer.omitted, changed: answer.changed }).toEqual({ omitted, changed })
        }
        const shown = await skillsteadJson<{ files: { path: string }[]; versions: object[] }>([
          'show',
          'alice/nda',
          '--url',
          server.url,
        ])
        expect(shown.files.map(({ path }) => path).toSorted()).toEqual(stored)
        // All doors give one digest, so that the skill has one version.
        expect(shown.versions).toHaveLength(1)
      },
    )

    it('are the expected files after a publish of JSON, whose response always lists omitted and changed files', async () => {
      const api = createClient({ baseUrl: server.url, apiKey: env.SKILLSTEAD_KEY! })
      const plain = [
        'docs/real.md',
        'node_modules/x/index.js',
        'docs/._real.md',
        'examples/inner/SKILL.md',
        '.DS_Store',
      ]
      const given = { skillMd: skillMd('listed'), files: plain.map((path) => ({ path, content: files[path]! })) }
      const answer = await api.publishSkill({ ...given, dryRun: true })
      expect(answer.version.files.map(({ path }) => path)).toEqual(['SKILL.md', 'docs/real.md'])
      expect(answer.omitted.map(({ path }) => path)).toEqual([
        '.DS_Store',
        'docs/._real.md',
        'examples/inner',
        'node_modules',
      ])
      const bare = await api.publishSkill({ skillMd: skillMd('bare') })
      expect(bare).toMatchObject({ omitted: [], changed: [] })
      expect(await api.publishSkill({ name: 'bare', license: 'MIT' })).toMatchObject({ omitted: [], changed: [] })
    })

    it.each(doors.filter(([name]) => !name.includes('tar')))('are as expected after importing %s', async (_, open) => {
      const place = await open(await makeSkill())
      const own = join(await makeFolder(), 'data')
      const summary = await skillsteadJson<Lists>(['import', place, '--owner', 'alice', '--data', own])
      expect(withoutFolder(summary.omitted)).toEqual([
        ...omitted,
        { path: 'examples/inner/deep', reason: expect.stringContaining('a skill of its own') },
      ])
      expect(withoutFolder(summary.changed)).toEqual([...changed, innerDocument])
      for (const [name, paths] of [
        ['nda', stored],
        ['inner', ['SKILL.md', 'data.txt']],
        ['deep', ['SKILL.md']],
      ] as const) {
        const shown = await skillsteadJson<{ files: { path: string }[] }>(['show', `alice/${name}`, '--data', own])
        expect(shown.files.map(({ path }) => path).toSorted()).toEqual(paths)
      }
    })

    it('are the expected files after a sync from a folder or a git repository, which lists omitted and changed files', async () => {
      const folder = await makeSkill()
      const git = (...args: string[]) => execFileSync('git', args, { cwd: join(folder, '..'), stdio: 'pipe' })
      const own = join(await makeFolder(), 'data')
      await skillsteadJson(['mirror', 'add', 'disk', folder, '--kind', 'folder', '--owner', 'disk', '--data', own])
      const disk = await skillsteadJson<Lists>(['mirror', 'sync', 'disk', '--data', own])
      expect(disk.omitted).toEqual(expect.arrayContaining(omitted))
      expect(disk.changed).toEqual([...changed, innerDocument])
      execFileSync('rm', ['-r', join(folder, '.git')])
      git('init', '--quiet')
      git('add', '--all', '--force')
      git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--message', 'all')
      const place = join(folder, '..')
      await skillsteadJson(['mirror', 'add', 'repo', place, '--kind', 'git', '--owner', 'repo', '--data', own])
      const { stdout } = await skillstead(['mirror', 'sync', 'repo', '--data', own])
      expect(stdout).toContain('  omitted nda/steps.md: The link leads out of the skill.\n')
      expect(stdout).toContain('  changed nda/own.md: The link to docs/real.md became a file')
      for (const owner of ['disk', 'repo']) {
        const shown = await skillsteadJson<{ files: { path: string }[] }>(['show', `${owner}/nda`, '--data', own])
        expect(shown.files.map(({ path }) => path).toSorted()).toEqual(stored)
      }
    })

    it('can differ from the source: lint, publish and import print each omitted or changed file', async () => {
      const folder = await makeSkill()
      const own = join(await makeFolder(), 'data')
      const lines = [
        '  omitted steps.md: The link leads out of the skill.\n',
        '  omitted examples/inner: The folder has a SKILL.md, which makes it a skill of its own.',
        '  changed own.md: The link to docs/real.md became a file with the content of docs/real.md.\n',
      ]
      const zip = await put(folder, 'c.zip', await toZip(''))
      for (const args of [
        ['lint', folder],
        ['lint', zip],
        ['publish', folder, '--url', server.url, '--dry-run'],
        ['import', zip, '--owner', 'alice', '--data', own],
      ]) {
        const { stdout } = await skillstead(args, { env })
        for (const line of lines) expect(stdout).toContain(line)
      }
    })

    it.each([
      ['to another folder', '../../shared/steps.md', 'out of the skill'],
      ['to nothing', 'nowhere.md', 'to no file'],
      ['to itself', 'SKILL.md', 'in a loop'],
    ])('do not include a SKILL.md that is a link %s, which is refused by name', async (_, target, reason) => {
      const folder = join(await makeFolder(), 'skills', 'linked')
      await mkdir(folder, { recursive: true })
      await symlink(target, join(folder, 'SKILL.md'))
      const { code, stderr } = await skillstead(['publish', folder, '--url', server.url], { env })
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining(`SKILL.md: The link leads ${reason}`),
      })
    })

    it('can include a SKILL.md that is a link to a file of the skill', async () => {
      const folder = await makeFolder()
      await writeFile(join(folder, 'skill-text.md'), skillMd('by-link'))
      await symlink('skill-text.md', join(folder, 'SKILL.md'))
      const answer = await skillsteadJson<Lists>(['publish', folder, '--url', server.url], { env })
      expect(answer.changed).toEqual([{ path: 'SKILL.md', reason: expect.stringContaining('skill-text.md') }])
    })
  },
)

describe('long lists of omitted files', () => {
  it.each([
    [100, undefined],
    [101, undefined],
    [102, '2 more entries are not listed.'],
  ])('never replace a single last entry with a count: %i links', async (count, more) => {
    const links = Array.from({ length: count }, (_, i) => ({
      header: { name: `l${i}`, size: 0, type: 'symlink' as const, linkname: '../x' },
    }))
    const text = skillMd('many')
    const document = { header: { name: 'SKILL.md', size: text.length }, body: text }
    const file = join(await makeFolder(), 'many.tar.gz')
    await writeFile(file, gzipSync(await packTar([document, ...links])))
    const { stdout } = await skillstead(['lint', file, '--json'])
    const { omitted: listed } = (JSON.parse(stdout) as { skills: Lists[] }).skills[0]!
    expect(listed).toHaveLength(more === undefined ? count : 101)
    expect(listed.find(({ path }) => path === '')?.reason).toBe(more)
  })

  it('name the first hundred entries and count the rest, for 20,000 links in a folder and 4,000 in an archive', async () => {
    const headers = Array.from({ length: 4000 }, (_, i) => ({
      header: { name: `l${i}`, size: 0, type: 'symlink' as const, linkname: `l${(i + 1) % 4000}` },
    }))
    const document = { header: { name: 'SKILL.md', size: skillMd('many').length }, body: skillMd('many') }
    const folder = await makeFolder()
    const file = join(folder, 'many.tar.gz')
    await writeFile(file, gzipSync(await packTar([document, ...headers])))
    await mkdir(join(folder, 'many'))
    await writeFile(join(folder, 'many', 'SKILL.md'), skillMd('many'))
    for (let i = 0; i < 20_000; i += 1) await symlink(`../${i}`, join(folder, 'many', `l${i}`))
    for (const [source, count] of [
      [openZip(file, 'tar.gz'), 4000],
      [openFolder(join(folder, 'many')), 20_000],
    ] as const) {
      const items: SkillRecord[] = []
      for await (const item of source.items) items.push(item as SkillRecord)
      expect(items).toHaveLength(1)
      expect(items[0]!.omitted).toHaveLength(101)
      expect(items[0]!.omitted!.at(-1)).toEqual({ path: '', reason: `${count - 100} more entries are not listed.` })
    }
  })
})

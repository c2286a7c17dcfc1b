import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { readZip, writeZip } from '@skillstead/skill-format/archives'
import { packTar } from 'modern-tar'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeFolder, skillstead, skillsteadJson, startServer } from '../support/cli-harness.ts'
import { findSchemaProblems, toManifest, toSkillMd, writeTree, type Files } from '../support/plugin-acts.ts'

interface Answer {
  plugin: string
  dryRun?: boolean
  skills: { path: string; status: string; fullName?: string; version?: string; reason?: string }[]
  pack: { slug: string; status: string; reason?: string }
  omitted: { path: string; reason: string }[]
}
interface Pack {
  name: string
  description: string
  visibility: string
  skills: { fullName: string; note: string; pinnedVersion: string | null }[]
}

let url: string
let data: string
let env: Record<string, string>
let bob: Record<string, string>

beforeAll(async () => {
  data = join(await makeFolder(), 'data')
  const create = async (name: string) => {
    const { key } = await skillsteadJson<{ key: string }>(['users', 'create', name, '--data', data])
    return { SKILLSTEAD_KEY: key }
  }
  env = await create('alice')
  bob = await create('bob')
  ;({ url } = await startServer(['serve', '--port', '0', '--data', data]))
})

const call = (args: string[], as = env) => skillstead([...args, '--url', url], { env: as })
const read = async <T = Answer>(args: string[], as = env): Promise<T> => {
  const { stdout, stderr } = await call([...args, '--json'], as)
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as T
}
const showPack = (slug: string) => read<Pack>(['pack', 'show', slug])
const members = async (slug: string) => (await showPack(slug)).skills.map(({ fullName }) => fullName)
const statuses = ({ skills }: Answer) =>
  skills.map(({ path, status }) => `${path.split('/').slice(-3).join('/')} ${status}`).toSorted()
const omitted = ({ omitted: list }: Answer) => list.map(({ path }) => path).toSorted()

/** A plugin with two skills, whose names begin with that of the plugin, and with what is no skill. */
const toFiles = (name: string): Files => ({
  'plugin.json': toManifest({ name }),
  [`skills/${name}-form/SKILL.md`]: toSkillMd(`${name}-form`, 'license: MIT\nmetadata:\n  keywords: forms, office\n'),
  [`skills/${name}-form/scripts/fill.sh`]: '#!/bin/sh\necho fill\n',
  [`skills/${name}-letter/SKILL.md`]: toSkillMd(
    `${name}-letter`,
    'license: MIT\nmetadata:\n  keywords: letters, office\n',
  ),
  'README.md': 'Read me.\n',
  '.claude-plugin/plugin.json': '{}',
  'hooks/hooks.json': '{}',
  'agents/helper.md': 'Helps.\n',
  'com.github.copilot/settings.json': '{}',
  'mcp.json': '{}',
  'other/deep/SKILL.md': toSkillMd('deep'),
  'skills/notes.md': 'Notes.\n',
  'skills/empty/readme.md': 'No skill here.\n',
  'skills/group/inner/SKILL.md': toSkillMd('inner'),
  'node_modules/x/skills/y/SKILL.md': toSkillMd('y'),
})
const left = `.claude-plugin README.md agents com.github.copilot hooks mcp.json node_modules other skills/empty
  skills/group skills/notes.md`.split(/\s+/)

const makePlugin = async (files: Files) => writeTree(join(await makeFolder(), 'plugin'), files)
const toZip = async (files: Files, prefix = '') => {
  const file = join(await makeFolder(), 'plugin.zip')
  const entries = Object.entries(files).map(([path, text]) => ({ path: prefix + path, bytes: Buffer.from(text) }))
  await writeFile(file, writeZip(entries))
  return file
}
const toTar = async (files: Files, prefix = '') => {
  const file = join(await makeFolder(), 'plugin.tar.gz')
  const entries = Object.entries(files).map(([path, text]) => {
    const mode = text.startsWith('#!') ? 0o755 : 0o644
    return { header: { name: prefix + path, size: Buffer.byteLength(text), mode }, body: text }
  })
  await writeFile(file, gzipSync(await packTar(entries)))
  return file
}
const toClone = async (files: Files) => {
  const folder = await makePlugin(files)
  execFileSync('git', ['init', '-q', folder])
  return folder
}

const makeAcme = (name: string) =>
  makePlugin({ 'plugin.json': toManifest({ name, description: 'Tools.' }), 'skills/acme/SKILL.md': toSkillMd('acme') })

const doors: [string, string, (files: Files) => Promise<string>, string[]?][] = [
  ['a folder', 'one', makePlugin],
  ['a zip', 'two', toZip],
  ['a zip with a top folder', 'three', (files) => toZip(files, 'plugin-main/')],
  ['a tar.gz', 'four', (files) => toTar(files, './')],
  ['a tar.gz with a top folder', 'five', (files) => toTar(files, 'plugin-main/')],
  ['a clone of a git repository', 'six', toClone, ['.git']],
]

describe('publishing a plugin', () => {
  it.each(doors)('from %s publishes skills and a pack, and lists omitted files', async (_, name, make, more = []) => {
    const place = await make(toFiles(name))
    const expected = [`skills/${name}-form/SKILL.md`, `skills/${name}-letter/SKILL.md`].map((path) =>
      path.split('/').slice(-3).join('/'),
    )
    const dry = await read(['publish', place, '--dry-run'])
    expect(statuses(dry)).toEqual(expected.map((path) => `${path} published`))
    expect([dry.plugin, dry.dryRun, dry.pack.status]).toEqual([name, true, 'created'])
    expect((await call(['pack', 'show', name])).code).toBe(1)

    const answer = await read(['publish', place])
    expect(statuses(answer)).toEqual(statuses(dry))
    expect(answer.pack).toEqual({ slug: name, status: 'created' })
    expect(omitted(answer)).toEqual([...left, ...more].toSorted())
    expect(omitted(dry)).toEqual(omitted(answer))
    const pack = await showPack(name)
    expect(pack).toMatchObject({ name, description: 'Forms and letters.', visibility: 'public' })
    expect(await members(name)).toEqual([`alice/${name}-form`, `alice/${name}-letter`])
    const { files } = await read<{ files: { path: string; executable?: boolean }[] }>(['show', `alice/${name}-form`])
    const hasModes = !place.endsWith('.zip')
    expect(files.find(({ path }) => path === 'scripts/fill.sh')?.executable ?? false).toBe(hasModes)

    const again = await read(['publish', place])
    expect(new Set(again.skills.map(({ status }) => status))).toEqual(new Set(['unchanged']))
    expect(again.pack.status).toBe('unchanged')
  })

  it('prints the result for each skill and the pack', async () => {
    const { code, stdout } = await call(['publish', await makePlugin(toFiles('told'))])
    expect(code).toBe(0)
    expect(stdout).toContain('The plugin told has 2 skills.\n  published alice/told-form@1.0.0\n')
    expect(stdout).toContain('The pack told was created.')
    expect(stdout).toContain('omitted hooks: It is for some clients only')
    expect(stdout).toContain('omitted mcp.json: A pack has no MCP servers.')
    const dry = await call(['publish', await makePlugin(toFiles('foretold')), '--dry-run'])
    expect(dry.stdout).toContain('would be published alice/foretold-form@1.0.0')
    expect(dry.stdout).toContain('The pack foretold would be created.')
  })

  it('publishes the other skills if one skill is refused, and keeps the refused skill in the pack', async () => {
    const files = toFiles('partly')
    await read(['publish', await makePlugin(files)])
    const broken = { ...files, 'skills/partly-form/SKILL.md': '---\nname: partly-form\n---\n' }
    const added = { ...broken, 'skills/partly-new/SKILL.md': toSkillMd('partly-new') }
    const place = await makePlugin(added)
    const answer = await read(['publish', place])
    expect(statuses(answer)).toEqual([
      'skills/partly-form/SKILL.md refused',
      'skills/partly-letter/SKILL.md unchanged',
      'skills/partly-new/SKILL.md published',
    ])
    expect(answer.skills[0]!.reason).toContain('description')
    expect(answer.pack.status).toBe('updated')
    expect(await members('partly')).toEqual(['alice/partly-form', 'alice/partly-letter', 'alice/partly-new'])
    expect((await call(['publish', place])).code).toBe(1)
  })

  it('updates the description and the members of the pack, and keeps its notes', async () => {
    const files = toFiles('moving')
    await read(['publish', await makePlugin(files)])
    await read(['pack', 'add', 'moving', 'alice/moving-letter', '--note', 'for letters'])
    const { 'skills/moving-form/SKILL.md': _, 'skills/moving-form/scripts/fill.sh': __, ...rest } = files
    const place = await makePlugin({ ...rest, 'plugin.json': toManifest({ name: 'moving', description: 'Letters.' }) })
    expect((await read(['publish', place])).pack.status).toBe('updated')
    const { description, skills } = await showPack('moving')
    expect([description, skills.map(({ fullName, note }) => [fullName, note])]).toEqual([
      'Letters.',
      [['alice/moving-letter', 'for letters']],
    ])
  })

  it('does not change a pack of another user', async () => {
    await read(['publish', await makePlugin(toFiles('taken'))])
    const place = await makePlugin({
      'plugin.json': toManifest({ name: 'taken' }),
      'skills/own/SKILL.md': toSkillMd('own'),
    })
    for (const more of [['--dry-run'], []]) {
      const { pack, skills } = await read(['publish', place, ...more], bob)
      expect(pack).toMatchObject({ slug: 'taken', status: 'refused' })
      expect(pack.reason).toContain("There is a pack 'taken' of alice already.")
      expect(skills).toMatchObject([{ fullName: 'bob/own' }])
    }
    expect(await members('taken')).toEqual(['alice/taken-form', 'alice/taken-letter'])
  })

  it('keeps the display name of a pack, and does not take over a pack that belongs to another plugin', async () => {
    await read(['publish', await makeAcme('acme')])
    await read(['pack', 'create', 'acme-tools', 'alice/acme', '--name', 'Everything from Acme'])
    expect((await read(['publish', await makeAcme('acme-tools')])).pack.status).toBe('updated')
    expect(await showPack('acme-tools')).toMatchObject({ name: 'Everything from Acme', description: 'Tools.' })
    const other = await read(['publish', await makeAcme('acme.tools')])
    expect(other.pack).toMatchObject({ slug: 'acme-tools', status: 'refused' })
    expect(other.pack.reason).toContain("is that of 'Everything from Acme', not of 'acme.tools'")
    expect((await read(['publish', await makeAcme('acme.more')])).pack).toEqual({
      slug: 'acme-more',
      status: 'created',
    })
    expect((await read(['publish', await makeAcme('acme.more')])).pack.status).toBe('unchanged')
    expect((await read(['publish', await makeAcme('acme-more')])).pack.status).toBe('refused')
  })

  it('creates no pack if no skill is published', async () => {
    const place = await makePlugin({ 'plugin.json': toManifest({ name: 'none' }), 'README.md': 'x' })
    const answer = await read(['publish', place])
    expect([answer.skills, answer.pack.status]).toEqual([[], 'refused'])
    expect((await call(['publish', place])).code).toBe(1)
  })

  it('applies the visibility to the skills and the pack', async () => {
    const answer = await read(['publish', await makePlugin(toFiles('hidden')), '--visibility', 'private'])
    expect(answer.pack.status).toBe('created')
    expect((await showPack('hidden')).visibility).toBe('private')
    expect((await call(['show', 'alice/hidden-form'], {})).code).toBe(1)
    // A new pack of the same skills is as private as they are.
    const files = { ...toFiles('hidden'), 'plugin.json': toManifest({ name: 'hidden-too' }) }
    await read(['publish', await makePlugin(files)])
    expect((await showPack('hidden-too')).visibility).toBe('private')
  })

  it.each(['--name', '--version', '--description'])('refuses %s, which applies to a single skill', async (option) => {
    const { code, stderr } = await call(['publish', await makePlugin(toFiles('many')), option, '1.0.0'])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${option} cannot be used`)])
  })

  it('refuses an archive with invalid paths with the same error as for a skill', async () => {
    const files = { ...toFiles('escaping'), '../outside.txt': 'x' }
    for (const place of [await toZip(files), await toTar(files)]) {
      expect((await call(['publish', place])).code).toBe(1)
      const { stderr } = await skillstead([
        'import',
        place,
        '--owner',
        'ann',
        '--data',
        join(await makeFolder(), 'data'),
      ])
      expect(stderr).toContain('leads out of the archive')
    }
    const broken = await toZip(toFiles('broken'))
    await writeFile(broken, readFileSync(broken).subarray(0, 200))
    expect((await call(['publish', broken])).code).toBe(1)
    expect((await call(['show', 'alice/escaping-form'])).code).toBe(1)
  })

  it('takes a folder with SKILL.md and plugin.json as a skill', async () => {
    const place = await makePlugin({ 'SKILL.md': toSkillMd('both'), 'plugin.json': '{"id": "an unrelated plugin"}' })
    expect(await read(['publish', place])).toMatchObject({ fullName: 'alice/both', created: true })
  })

  it.skipIf(process.platform === 'win32')('follows no link, and publishes no file outside the folder', async () => {
    const outside = await writeTree(await makeFolder(), { 'SKILL.md': toSkillMd('outside'), 'secret.txt': 'secret' })
    const files = {
      'plugin.json': toManifest({ name: 'linked' }),
      'skills/linked-one/SKILL.md': toSkillMd('linked-one'),
      'skills/linked-one/secret.txt': `->${join(outside, 'secret.txt')}`,
      'skills/linked-two': `->${outside}`,
      'skills/linked-three/SKILL.md': `->${join(outside, 'SKILL.md')}`,
      'skills/linked-four/SKILL.md': '->../linked-one/SKILL.md',
      shared: `->${outside}`,
    }
    const answer = await read(['publish', await makePlugin(files)])
    expect(statuses(answer)).toEqual([
      'skills/linked-four/SKILL.md refused',
      'skills/linked-one/SKILL.md published',
      'skills/linked-three/SKILL.md refused',
    ])
    expect(omitted(answer)).toEqual(['shared', 'skills/linked-one/secret.txt', 'skills/linked-two'])
    const all = await makePlugin({ 'plugin.json': toManifest({ name: 'whole' }), skills: `->${outside}` })
    expect(omitted(await read(['publish', all]))).toEqual(['skills'])
    const manifest = await makePlugin({ 'own.json': toManifest(), 'plugin.json': '->own.json' })
    expect((await call(['publish', manifest])).stderr).toContain('plugin.json: The manifest is a link')
  })

  it('lists a limited number of omitted entries, and counts the rest', async () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`extra-${n}.txt`, 'x']))
    const files = {
      'plugin.json': toManifest({ name: 'crowded' }),
      'skills/crowded/SKILL.md': toSkillMd('crowded'),
      ...many,
    }
    for (const place of [await makePlugin(files), await toTar(files)]) {
      const { omitted: list, skills } = await read(['publish', place, '--dry-run'])
      expect([skills.length, list.length]).toEqual([1, 101])
      expect(list.at(-1)).toEqual({ path: '', reason: '50 more entries are not listed.' })
    }
  })

  it('names unknown fields of the manifest and ignores them', async () => {
    const extra = { skills: ['../other'], main: './x', extensions: 'none', __proto__: null }
    const place = await makePlugin({ ...toFiles('extra'), 'plugin.json': toManifest({ name: 'extra', ...extra }) })
    const { omitted: list } = await read(['publish', place])
    expect(list.filter(({ path }) => path === 'plugin.json').map(({ reason }) => reason)).toEqual([
      'The field "skills" is not in Agent Plugins 1.0.0, and was ignored.',
      'The field "main" is not in Agent Plugins 1.0.0, and was ignored.',
      'The field extensions is no object, and was ignored.',
    ])
  })

  it.each([
    [{ version: '2.0.0' }, 'the field version'],
    [{ license: 'MIT', author: { name: 'Ann' } }, 'the fields license, author'],
    [
      { version: '1', author: {}, license: '', homepage: '', repository: '', keywords: [], extensions: {} },
      'the fields version, homepage, repository, license, author, keywords, extensions',
    ],
  ])('names the fields of the manifest that a pack does not store: %j', async (extra, named) => {
    const manifest = toManifest({ name: 'rich', ...extra })
    const files = { 'plugin.json': manifest, 'skills/rich/SKILL.md': toSkillMd('rich') }
    for (const place of [await makePlugin(files), await toZip(files)])
      expect((await read(['publish', place, '--dry-run'])).omitted).toEqual([
        { path: 'plugin.json', reason: `A pack does not store ${named}.` },
      ])
  })

  it('keeps the order of the skills in an existing pack, and adds new skills at the end', async () => {
    const files = toFiles('ordered')
    const [form, letter, early] = ['form', 'letter', 'a-new-one'].map((name) => `alice/ordered-${name}`)
    await read(['publish', await makePlugin(files)])
    await read(['pack', 'remove', 'ordered', form!])
    await read(['pack', 'add', 'ordered', form!])
    expect((await read(['publish', await makePlugin(files)])).pack.status).toBe('unchanged')
    const more: Files = { ...files, 'skills/ordered-a-new-one/SKILL.md': toSkillMd('ordered-a-new-one') }
    expect((await read(['publish', await makePlugin(more)])).pack.status).toBe('updated')
    expect(await members('ordered')).toEqual([letter, form, early])
    const { 'skills/ordered-letter/SKILL.md': _, ...fewer } = more
    await read(['publish', await makePlugin(fewer)])
    expect(await members('ordered')).toEqual([form, early])
  })

  it.each(['x.tar', 'x.TAR.BZ2', 'x.tar.xz', 'x.7z', 'x.rar', 'x.gz', 'x.skill'])(
    'refuses the unsupported archive %s by its file extension, as verify does',
    async (name) => {
      const file = join(await makeFolder(), name)
      await writeFile(file, await packTar([{ header: { name: 'SKILL.md', size: 1 }, body: 'x' }]))
      const published = await call(['publish', file])
      expect([published.code, published.stderr]).toEqual([
        2,
        `${file} is an archive of an unsupported kind. Use .zip, .tar.gz or .tgz.\n`,
      ])
      await read(['publish', await makePlugin({ 'SKILL.md': toSkillMd('checked') })])
      const verified = await call(['verify', 'alice/checked', '--content', file])
      expect([verified.code, verified.stderr]).toEqual([2, `${file} is an archive of an unsupported kind. Use .zip.\n`])
    },
  )

  it.each([
    ['not JSON', '{', 'not valid JSON'],
    ['with a key twice', toManifest().replace('{', '{"name":"other",'), 'The key "name" occurs twice.'],
    ['with it in an escape', toManifest().replace('{', '{"n\\u0061me":"other",'), 'The key "name" occurs twice.'],
    [
      'with a key of the author twice',
      toManifest({ author: { url: '1', name: '2' } }).replace('"url"', '"name"'),
      'twice',
    ],
    ['no object', '[]', 'must be a JSON object'],
    ['in UTF-16', Buffer.from('{}', 'utf16le').toString(), 'not valid JSON'],
    ['without $schema', '{"name":"a"}', 'The field $schema is missing.'],
    [
      'of another version',
      toManifest({ $schema: 'https://agent-plugins.org/schemas/9.0.0/plugin.schema.json' }),
      '9.0.0',
    ],
    ['without a name', toManifest({ name: undefined }), 'The field name is missing.'],
    ['with an invalid name', toManifest({ name: 'My--Plugin' }), 'The field name is "My--Plugin".'],
    ['with a long name', toManifest({ name: 'a'.repeat(65) }), 'The field name is'],
    ['with a number as version', toManifest({ version: 1 }), 'The field version is 1. It must be a text.'],
    ['with another field of the author', toManifest({ author: { name: 'a', phone: '1' } }), 'The field author is'],
    ['with a text as keywords', toManifest({ keywords: 'a, b' }), 'The field keywords is'],
    ['of 2 MiB', toManifest({ version: '1'.repeat(2 ** 21) }), 'larger than 1 MiB'],
    ['with deep JSON', `{"a":${'['.repeat(500)}`, 'deeper than'],
  ])('refuses a manifest that is %s, and names the field', async (_, manifest, reason) => {
    const files = { 'plugin.json': manifest, 'skills/lost/SKILL.md': toSkillMd('lost') }
    for (const place of [await makePlugin(files), await toZip(files)]) {
      for (const command of [
        ['publish', place],
        ['publish', place, '--dry-run'],
      ]) {
        const { code, stderr } = await call(command)
        expect([code, stderr]).toEqual([1, expect.stringContaining(reason)])
        expect(stderr).toMatch(/plugin\.json: .*Correct it/)
      }
    }
    expect((await call(['show', 'alice/lost'])).code).toBe(1)
  })
})

describe('linting a plugin', () => {
  it('reports the same errors of the manifest as a publish', async () => {
    const files = { ...toFiles('linted'), 'plugin.json': toManifest({ name: 'linted', homepage: 7 }) }
    for (const place of [await makePlugin(files), await toZip(files)]) {
      const { code, stdout } = await skillstead(['lint', place, '--json'])
      const { unreadable } = JSON.parse(stdout) as { unreadable: { id: string; reason: string }[] }
      expect(code).toBe(1)
      expect(unreadable).toMatchObject([{ id: 'plugin.json' }])
      expect((await call(['publish', place])).stderr).toContain(unreadable[0]!.reason)
    }
    expect((await skillstead(['lint', await makePlugin(toFiles('linted'))])).stdout).not.toContain('cannot be read')
  })

  it.each(doors)('from %s lists the files and fields that a publish omits', async (_, name, make, more = []) => {
    const manifest = toManifest({ name, version: '1.0.0', main: './x' })
    const place = await make({ ...toFiles(name), 'plugin.json': manifest })
    const answer = JSON.parse((await skillstead(['lint', place, '--json'])).stdout) as Answer
    expect(omitted(answer)).toEqual([...left, ...more, 'plugin.json', 'plugin.json'].toSorted())
    expect(answer.omitted).toEqual((await read(['publish', place, '--dry-run'])).omitted)
    const { stdout } = await skillstead(['lint', place])
    expect(stdout).toContain('omitted hooks: It is for some clients only')
    expect(stdout).toContain('omitted plugin.json: A pack does not store the field version.')
  })

  it('lists nothing as omitted if the folder is a single skill', async () => {
    const place = await makePlugin({ 'SKILL.md': toSkillMd('alone') })
    expect(JSON.parse((await skillstead(['lint', place, '--json'])).stdout)).toMatchObject({ omitted: [] })
  })
})

describe('an upload of a plugin', () => {
  it.each(['', 'plugin-main/'])(
    'in an archive with the folder "%s" is refused with 422 and the command to use',
    async (prefix) => {
      for (const [make, type] of [
        [toZip, 'application/zip'],
        [toTar, 'application/gzip'],
      ] as const) {
        const body = readFileSync(await make(toFiles('raw'), prefix))
        const headers = { authorization: `Bearer ${env['SKILLSTEAD_KEY']}`, 'content-type': type }
        const response = await fetch(`${url}/api/v1/skills`, { method: 'PUT', headers, body })
        expect(response.status).toBe(422)
        expect(((await response.json()) as { detail: string }).detail).toContain('skillstead publish FILE')
      }
    },
  )
})

describe('importing a plugin', () => {
  it.each(doors)('from %s creates the same skills and pack as a publish', async (_, name, make, more = []) => {
    const folder = join(await makeFolder(), 'data')
    const place = await make(toFiles(name))
    const load = () => skillsteadJson<Answer & { taken: number }>(['import', place, '--owner', 'ann', '--data', folder])
    const answer = await load()
    expect(statuses(answer)).toEqual([
      `skills/${name}-form/SKILL.md published`,
      `skills/${name}-letter/SKILL.md published`,
    ])
    expect(answer).toMatchObject({ plugin: name, taken: 2, pack: { slug: name, status: 'created' } })
    expect(omitted(answer)).toEqual([...left, ...more].toSorted())
    const pack = await skillsteadJson<Pack>(['pack', 'show', name, '--data', folder])
    expect(pack.skills.map(({ fullName }) => fullName)).toEqual([`ann/${name}-form`, `ann/${name}-letter`])
    expect((await load()).pack.status).toBe('unchanged')
  })

  it('prints the result for each skill, and requires an owner', async () => {
    const folder = join(await makeFolder(), 'data')
    const files = { ...toFiles('some'), 'skills/some-form/SKILL.md': '\uFFFD\u0000' }
    const place = await makePlugin(files)
    const { stdout } = await skillstead(['import', place, '--owner', 'ann', '--data', folder])
    expect(stdout).toContain('refused plugin/skills/some-form/SKILL.md: ')
    expect(stdout).toContain('published ann/some-letter@1.0.0')
    expect(stdout).toContain('The pack some was created.')
    const without = await skillstead(['import', place, '--data', folder])
    expect(without.stdout).toContain('Pass the owner with --owner.')
    expect(without.stdout).toContain('The pack some was not made: ')
  })

  it('refuses an invalid manifest, and names the field', async () => {
    const place = await makePlugin({ ...toFiles('bad'), 'plugin.json': toManifest({ name: 'Bad' }) })
    const { code, stderr } = await skillstead(['import', place, '--owner', 'ann', '--data', join(place, 'data')])
    expect([code, stderr]).toEqual([1, expect.stringContaining('plugin.json: The field name is "Bad".')])
  })
})

const exportTo = (slug: string, path: string) =>
  read<{ plugin: { skills: { folder: string; fullName: string }[]; omitted: { path: string }[] } }>([
    'pack',
    'show',
    slug,
    '--plugin',
    path,
  ])
const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'plugin.json'), 'utf8')) as Record<string, unknown>

describe('writing a pack as a plugin', () => {
  beforeAll(async () => {
    await read(['publish', await makePlugin(toFiles('written'))])
  })

  it('produces a valid manifest, the published bytes and the executable bits', async () => {
    const folder = join(await makeFolder(), 'new', 'plugin')
    const { plugin } = await exportTo('written', folder)
    expect(plugin.skills.map(({ folder: name }) => name)).toEqual(['written-form', 'written-letter'])
    expect(readManifest(folder)).toEqual({
      $schema: expect.any(String),
      name: 'written',
      description: 'Forms and letters.',
      author: { name: 'alice' },
      license: 'MIT',
      keywords: ['forms', 'letters', 'office'],
    })
    expect(findSchemaProblems(readManifest(folder))).toEqual([])
    const script = join(folder, 'skills/written-form/scripts/fill.sh')
    expect(readFileSync(script, 'utf8')).toBe('#!/bin/sh\necho fill\n')
    expect(statSync(script).mode & 0o111).toBe(process.platform === 'win32' ? 0 : 0o111)
    expect(readdirSync(join(folder, '..'))).toEqual(['plugin'])
    // What is written can be published again, and nothing changes.
    const again = await read(['publish', folder])
    expect(again.skills.map(({ status }) => status)).toEqual(['unchanged', 'unchanged'])
    expect([again.omitted, again.pack.status]).toEqual([
      [{ path: 'plugin.json', reason: 'A pack does not store the fields license, author, keywords.' }],
      'unchanged',
    ])
  })

  it('produces a zip with the same files and modes if the path ends with .zip', async () => {
    const file = join(await makeFolder(), 'plugin.zip')
    await exportTo('written', file)
    const files = await readZip(readFileSync(file), { keep: (name) => name, problems: [] })
    expect(files.map(({ path, executable }) => [path, executable])).toEqual([
      ['plugin.json', false],
      ['skills/written-form/SKILL.md', false],
      ['skills/written-form/scripts/fill.sh', true],
      ['skills/written-letter/SKILL.md', false],
    ])
  })

  it.each(['w.tgz', 'w.tar.gz', 'w.tar', 'w.7z'])('refuses to write %s: only .zip is supported', async (name) => {
    const folder = await makeFolder()
    const path = join(folder, name)
    const { code, stderr } = await call(['pack', 'show', 'written', '--plugin', path])
    expect([code, stderr]).toEqual([2, `${path} is an archive of an unsupported kind. Use .zip.\n`])
    expect(readdirSync(folder)).toEqual([])
  })

  it('replaces no existing file or folder', async () => {
    const folder = await writeTree(await makeFolder(), { 'mine.txt': 'mine' })
    for (const path of [folder, join(folder, 'mine.txt'), join(folder, 'mine.zip')]) {
      if (path.endsWith('.zip')) await mkdir(path)
      const { code, stderr } = await call(['pack', 'show', 'written', '--plugin', path])
      expect([code, stderr]).toEqual([1, expect.stringContaining('exists already')])
    }
    expect(readdirSync(folder).toSorted()).toEqual(['mine.txt', 'mine.zip'])
    const empty = await makeFolder()
    await exportTo('written', empty)
    expect(existsSync(join(empty, 'plugin.json'))).toBe(true)
  })

  it('gives skills of the same name separate folders, and writes the pinned versions', async () => {
    await read(['publish', await makePlugin({ 'SKILL.md': toSkillMd('twin', 'license: MIT\n') })])
    await read(['publish', await makePlugin({ 'SKILL.md': `${toSkillMd('twin')}More.\n` })])
    await read(['publish', await makePlugin({ 'SKILL.md': toSkillMd('twin', 'license: ISC\n') })], bob)
    await read(['pack', 'create', 'agent-skills', 'alice/twin@1.0.0', 'bob/twin'])
    const folder = join(await makeFolder(), 'plugin')
    const { plugin } = await exportTo('agent-skills', folder)
    expect(plugin.skills).toMatchObject([
      { folder: 'twin', fullName: 'alice/twin', version: '1.0.0' },
      { folder: 'bob-twin', fullName: 'bob/twin', version: '1.0.0' },
    ])
    const manifest = readManifest(folder)
    expect(manifest).not.toHaveProperty('description')
    expect([manifest['name'], 'license' in manifest, 'keywords' in manifest]).toEqual(['agent-skills', false, false])
    expect(findSchemaProblems(manifest)).toEqual([])
  })

  it('writes nothing for a pack without installable skills', async () => {
    await read(['pack', 'create', 'bare', 'alice/written-form'])
    const removed = await read(['pack', 'remove', 'bare', 'alice/written-form', 'alice/mistyped'])
    expect(removed).toMatchObject({ unseen: ['alice/mistyped'] })
    const folder = await makeFolder()
    const { code, stderr } = await call(['pack', 'show', 'bare', '--plugin', join(folder, 'plugin')])
    expect([code, stderr]).toEqual([1, expect.stringContaining('no skill that can be installed')])
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('a name that Claude Code reserves for marketplaces', () => {
  it.each([
    ['life-sciences', 'life-sciences-skills'],
    ['claude-plugins', 'claude-skills-plugins'],
  ])('%s causes a warning when a user or pack gets it', async (name, other) => {
    const user = await skillstead(['users', 'create', name, '--data', join(await makeFolder(), 'data')])
    expect(user.stdout).toContain(`has the name '${other}'`)
    const pack = await call(['pack', 'create', name, 'alice/written-form'])
    expect(pack.stdout).toContain(`reserved_marketplace: Claude Code reserves the marketplace name '${name}'.`)
  })

  it('causes no warning if it is only a part of the name of a pack', async () => {
    const { stdout } = await call(['pack', 'create', 'my-claude-plugins', 'alice/written-form'])
    expect(stdout).not.toContain('reserves')
  })
})

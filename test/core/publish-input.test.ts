import { gzipSync } from 'node:zlib'
import { limits, type PublishSkillInput } from '@skillstead/protocol'
import { packTar } from 'modern-tar'
import { beforeAll, describe, expect, it } from 'vitest'
import { writeZip } from '@skillstead/skill-format/archives'
import { bytesOf, codeOf, fieldsOf, refusalOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

type Json = Record<string, unknown>

const zip = (files: { path: string; bytes: Uint8Array }[]) => new Uint8Array(writeZip(files))
const entries = (name: string, folder = '') => [
  { path: `${folder}SKILL.md`, bytes: Buffer.from(skillMd(name)) },
  { path: `${folder}scripts/run.sh`, bytes: Buffer.from('echo run\n') },
]

const utf16 = (text: string) => Buffer.from(text, 'utf16le')
const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`

describeApi('the input of a publish', (open, { transport }) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
  })

  const publish = (input: Json) => alice.api.publishSkill(input as unknown as PublishSkillInput)
  const publishFiles = (files: { path: string; content: string; encoding?: 'base64' }[]) =>
    alice.api.publishSkill({ skillMd: skillMd('files-of-all-kinds'), files })

  describe('an upload', () => {
    const con = { path: 'CON', bytes: Buffer.from('x') }
    it.each(['', 'in-a-folder/'])('is a zip with SKILL.md at its root or in one folder (%j)', async (folder) => {
      const name = `zipped${folder.length}`
      const archive = { contentType: 'application/zip' as const, body: zip(entries(name, folder)) }
      const { skill, created } = await alice.api.publishSkill({ archive, category: 'Zips', keywords: ['a', 'b'] })
      expect({ created, name: skill.name, category: skill.category }).toEqual({ created: true, name, category: 'Zips' })
      expect(skill.keywords.toSorted()).toEqual(['a', 'b'])
      expect(skill.files.map(({ path }) => path)).toEqual(['SKILL.md', 'scripts/run.sh'])
    })

    it.each([
      ['UTF-16 with a mark', utf16(`\ufeff${skillMd('wide')}`), 'UTF-16'],
      ['UTF-16 without a mark', utf16(skillMd('wide')), 'UTF-16'],
      ['big-endian UTF-16', utf16(`\ufeff${skillMd('wide')}`).swap16(), 'UTF-16'],
      ['Latin-1', Buffer.from(skillMd('wide', { description: 'Übersetzt.' }), 'latin1'), 'not valid UTF-8'],
      ['a Git LFS pointer', Buffer.from(pointer), 'Git LFS pointer'],
      ['the path of a link', Buffer.from('../shared/SKILL.md'), "only the path '../shared/SKILL.md'"],
    ])('is refused by name if SKILL.md is %s', async (_, bytes, message) => {
      const body = zip([{ path: 'SKILL.md', bytes }])
      const refused = await refusalOf(alice.api.publishSkill({ archive: { contentType: 'application/zip', body } }))
      expect(refused.errors).toEqual([{ path: 'SKILL.md', message: expect.stringContaining(message) }])
    })

    it('has a warning for each placeholder file: a Git LFS pointer, or a symbolic link stored as text', async () => {
      const files = [
        { path: 'SKILL.md', bytes: Buffer.from(skillMd('standing')) },
        { path: 'model.bin', bytes: Buffer.from(pointer) },
        { path: 'steps.md', bytes: Buffer.from('../shared/steps.md') },
        { path: 'notes.md', bytes: Buffer.from('../shared/steps.md\n') },
        { path: 'name.txt', bytes: Buffer.from('words and/or more') },
        ...Object.entries({
          'own.md': 'steps.md',
          'AGENTS.md': 'SKILL.md',
          'docs/up.md': 'real.md',
          'docs/real.md': 'Real.',
          'self.md': 'self.md',
          'gone.md': 'nowhere.md',
          'docs/top.md': 'steps.md',
          'lines.md': 'steps.md\n',
          'spaces.md': ' steps.md',
        }).map(([path, text]) => ({ path, bytes: Buffer.from(text) })),
      ]
      const archive = { contentType: 'application/zip' as const, body: zip(files) }
      const { warnings } = await alice.api.publishSkill({ archive, dryRun: true })
      const standing = warnings.filter(({ code }) => code === 'file_stands_in').map(({ message }) => message)
      expect(standing.toSorted()).toEqual([
        expect.stringContaining("AGENTS.md: The file has only the path 'SKILL.md'"),
        expect.stringContaining("docs/up.md: The file has only the path 'real.md'"),
        'model.bin: The file is a Git LFS pointer. Run `git lfs pull` to get its content.',
        expect.stringContaining("own.md: The file has only the path 'steps.md'"),
        expect.stringContaining("steps.md: The file has only the path '../shared/steps.md'"),
      ])
    })

    it('is a gzipped tar', async () => {
      const headers = entries('tarred').map(({ path, bytes }) => ({
        header: {
          name: path,
          size: bytes.length,
        },
        body: bytes,
      }))
      const archive = {
        contentType: 'application/gzip' as const,
        body: new Uint8Array(gzipSync(await packTar(headers))),
      }
      const { skill } = await alice.api.publishSkill({ archive, version: '4.0.0' })
      expect(skill).toMatchObject({ name: 'tarred', latestVersion: '4.0.0' })
    })

    it('may contain .git only next to SKILL.md, where it is omitted and reported', async () => {
      const git = { path: 'cloned/.git/config', bytes: Buffer.from('[core]') }
      const publishZip = (...more: (typeof git)[]) => {
        const body = zip([...entries('cloned', 'cloned/'), ...more])
        return alice.api.publishSkill({ archive: { contentType: 'application/zip', body } })
      }
      const { version, warnings, omitted, changed } = await publishZip(git)
      expect(version.files.map(({ path }) => path)).toEqual(['SKILL.md', 'scripts/run.sh'])
      expect({ warnings, omitted, changed }).toEqual({
        warnings: [],
        omitted: [{ path: '.git', reason: expect.stringContaining('run programs') }],
        changed: [],
      })
      const refusal = await refusalOf(publishZip(git, { ...git, path: 'cloned/scripts/.git/config' }))
      expect(refusal).toMatchObject({ code: 'invalid_skill', errors: [{ path: 'scripts/.git' }] })
    })

    it('has the same digest as the same files in JSON', async () => {
      const files = [{ path: 'scripts/run.sh', content: 'echo run\n' }]
      const json = await alice.api.publishSkill({ skillMd: skillMd('alike'), files })
      const archive = { contentType: 'application/zip' as const, body: zip(entries('alike')) }
      const { created, version } = await alice.api.publishSkill({ archive })
      expect({ created, digest: version.digest }).toEqual({ created: false, digest: json.version.digest })
    })

    it.each([
      ['without a SKILL.md', [{ path: 'README.md', bytes: Buffer.from('x') }], 'The archive has no SKILL.md'],
      [
        'of too many entries',
        Array.from({ length: 5000 }, (_, i) => ({ path: `${i}`, bytes: Buffer.from('') })),
        'The archive has more than 4096 entries',
      ],
      ['with a wrong path', [{ path: 'SKILL.md', bytes: Buffer.from(skillMd('x')) }, con], 'CON: The path contains'],
    ])('is refused with a message that begins with the path of a wrong file: %s', async (_, files, detail) => {
      const answer = alice.api.publishSkill({ archive: { contentType: 'application/zip', body: zip(files) } })
      await expect(answer).rejects.toThrow(new RegExp(`^${detail}`))
    })

    it('is refused if it is broken, empty or not UTF-8, and nothing is stored', async () => {
      const bodies = [
        new Uint8Array([1, 2, 3]),
        zip([{ path: 'README.md', bytes: Buffer.from('no skill') }]),
        zip([{ path: 'SKILL.md', bytes: Buffer.from([0xff, 0xfe, 0xfd]) }]),
      ]
      for (const body of bodies) {
        const archive = { contentType: 'application/zip' as const, body }
        expect(await codeOf(alice.api.publishSkill({ archive, name: 'broken', description: 'x' }))).toBe(
          'invalid_skill',
        )
      }
      expect(await codeOf(alice.api.getSkill({ name: 'alice/broken' }))).toBe('not_found')
    })
  })

  describe('paths of files', () => {
    const hostile = [
      '../up',
      '/absolute',
      'a/../b',
      'a//b',
      './a',
      'back\\slash',
      'C:drive',
      'nul',
      'aux.txt',
      'a\0b',
      'a\nb',
      'trailing.',
      'trailing ',
      'SKILL.md',
      'skill.MD',
      '1/2/3/4/5/6/7/8/9',
      'x'.repeat(256),
      '',
      '\ud800',
      '.git/config',
      'a/GIT~1/config',
      'a/.g\u200cit/config',
    ]

    it.each(hostile)('may not be %j, and the error names the path', async (path) => {
      const refusal = await refusalOf(
        publishFiles([
          { path: 'good.txt', content: 'x' },
          { path, content: 'y' },
        ]),
      )
      expect(refusal.code).toBe('invalid_skill')
      expect(refusal.errors.map((error) => error.path)).toEqual([path])
    })

    it('are each named in the error if they are invalid', async () => {
      const refusal = await refusalOf(publishFiles(['../a', '/b', 'c'].map((path) => ({ path, content: '' }))))
      expect(refusal.errors.map(({ path }) => path)).toEqual(['../a', '/b'])
    })

    it.each([
      [['../a'], /^\.\.\/a: .*`\.\.` segment\.$/],
      [['../a', '/b'], /^\.\.\/a: .* segment\. \/b: The path is absolute\..*SKILL\.md\.$/],
      [['../a', '/b', 'c:d'], /^\.\.\/a: .* segment\. And 2 more\.$/],
    ])('are named in the error message, unless there are more than two: %j', async (paths, sentence) => {
      const { message } = await refusalOf(publishFiles(paths.map((path) => ({ path, content: '' }))))
      expect(message).toMatch(sentence)
      expect(message).not.toContain('And 1 more')
    })

    it('may not form a folder that git treats as a bare repository', async () => {
      const bare = ['x/HEAD', 'x/objects/a', 'x/refs/a', 'x/config'].map((path) => ({ path, content: 'x' }))
      expect(await refusalOf(publishFiles(bare))).toMatchObject({ code: 'invalid_skill', errors: [{ path: 'x/HEAD' }] })
    })

    it.each(['zip', 'JSON'])('may include mcp.json only if the content of that file is valid (%s)', async (form) => {
      const $schema = '"$schema":"https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"'
      const content = `{${$schema},"mcpServers":{"__proto__":{"type":"stdio","command":"../x"}}}`
      const at = form === 'JSON' ? ['con.txt', 'mcp.json'] : ['mcp.json']
      const files = at.map((path) => ({ path, bytes: Buffer.from(content) }))
      const document = { path: 'SKILL.md', bytes: Buffer.from(skillMd('served')) }
      const body = zip([document, ...files])
      const input =
        form === 'JSON'
          ? { skillMd: skillMd('served'), files: files.map(({ path }) => ({ path, content })) }
          : { archive: { contentType: 'application/zip', body } }
      for (const dryRun of [true, false]) {
        const refusal = await refusalOf(publish({ ...input, dryRun }))
        expect([refusal!.code, refusal!.status]).toEqual(['invalid_skill', 422])
        expect(refusal!.errors.map(({ path }) => path)).toEqual(at)
      }
      expect(await codeOf(alice.api.getSkill({ name: 'alice/served' }))).toBe('not_found')
    })

    it('must differ in more than upper and lower case', async () => {
      const twice = publishFiles(['Read.md', 'read.md'].map((path) => ({ path, content: '' })))
      expect(await codeOf(twice)).toBe('invalid_skill')
    })
  })

  describe('limits', () => {
    it('of 512 files per version include SKILL.md, and more files cause at most three errors', async () => {
      const files = Array.from({ length: limits.versionFilesMax }, (_, i) => ({ path: `f${i}`, content: '' }))
      const most = await alice.api.publishSkill({ skillMd: skillMd('most-files'), files: files.slice(1) })
      expect(most.version.files).toHaveLength(512)
      for (const tooMany of [files, [...files, { path: 'one-more', content: '' }]]) {
        const refusal = await refusalOf(alice.api.publishSkill({ skillMd: skillMd('many-files'), files: tooMany }))
        expect(refusal.code).toBe('invalid_skill')
        expect(refusal.errors.length).toBeLessThan(4)
      }
    })

    it('of a file and of a version count bytes, and the error names a file that is too large', async () => {
      const large = 'x'.repeat(limits.fileBytesMax + 1)
      expect(await fieldsOf(publishFiles([{ path: 'large.bin', content: large }]))).toEqual(['large.bin'])
      const refusal = await refusalOf(publish({ skillMd: skillMd('large-md', { body: large }) }))
      expect(refusal.code).toBe('invalid_skill')
      expect(refusal.errors.map(({ path }) => path)).toEqual(['SKILL.md'])
      const half = large.slice(0, limits.versionBytesMax / 2)
      const both = publishFiles(['a', 'b'].map((path) => ({ path, content: half })))
      expect(await codeOf(both)).toBe('invalid_skill')
    })
  })

  describe('fields', () => {
    it('are refused if they are unknown, and the error names them', async () => {
      expect(await fieldsOf(publish({ skillMd: skillMd('unknown'), colour: 'red', __proto_: 1 }))).toEqual(
        expect.arrayContaining(['colour']),
      )
    })

    const wrong: [string, Json][] = [
      ['skillMd', { skillMd: 7 }],
      ['name', { name: ['x'] }],
      ['version', { version: '1.0' }],
      ['version', { version: 1 }],
      ['visibility', { visibility: 'secret' }],
      ['deprecated', { deprecated: 'perhaps' }],
      ['files', { files: 'x' }],
      ['files.0.path', { files: [{ content: '' }] }],
      ['files.0.encoding', { files: [{ path: 'a', content: '', encoding: 'hex' }] }],
      ['files.0.content', { files: [{ path: 'a', content: '!!!', encoding: 'base64' }] }],
      ['files.0.mode', { files: [{ path: 'a', content: '', mode: 7 }] }],
      ['repository', { repository: 'javascript:alert(1)' }],
      ['changelog', { changelog: 'x'.repeat(limits.changelogCharactersMax + 1) }],
      ['keywords', { keywords: Array(limits.keywordsMax + 1).fill('k') }],
      ['description', { description: 'x'.repeat(limits.descriptionCharactersMax + 1) }],
    ]
    it.each(wrong)(
      'are refused if their type or length is wrong, and the error names them: %s',
      async (path, fields) => {
        const refusal = await refusalOf(publish({ skillMd: '# x', name: 'wrong', description: 'x', ...fields }))
        expect(refusal.code).toBe('invalid_request')
        expect(refusal.errors.map((error) => error.path)).toEqual([path])
      },
    )

    it.each(['description', 'category', 'license', 'changelog', 'displayName', 'deprecationMessage', 'keywords'])(
      'may contain no NUL and no lone surrogates: %s',
      async (field) => {
        for (const text of ['a\0b', 'a\uD800b', '\uDC00']) {
          const value = field === 'keywords' ? ['fine', text] : text
          const input = { skillMd: '# x', name: 'unicode', description: 'x', [field]: value }
          const refusal = await refusalOf(publish(input))
          expect(refusal.code).toBe('invalid_request')
          expect(refusal.errors[0]!.path.split('.')[0]).toBe(field)
        }
        expect(await codeOf(alice.api.getSkill({ name: 'alice/unicode' }))).toBe('not_found')
      },
    )

    it('may contain no lone surrogates in the text of SKILL.md', async () => {
      expect(await fieldsOf(publish({ skillMd: `${skillMd('halved')}\uD800` }))).toEqual(['skillMd'])
    })

    it('can contain binary files as base64', async () => {
      const bytes = Buffer.from([0, 255, 128, 10, 13, 0])
      await publishFiles([{ path: 'data.bin', content: bytes.toString('base64'), encoding: 'base64' }])
      const file = await alice.api.getFile({ name: 'alice/files-of-all-kinds', path: 'data.bin' })
      expect(await bytesOf(file)).toEqual(bytes)
    })
  })

  const put = (body: BodyInit, contentType = 'application/json') =>
    test.request('/api/v1/skills', {
      method: 'PUT',
      headers: { authorization: `Bearer ${alice.key}`, 'content-type': contentType },
      body,
    })

  describe.runIf(transport === 'HTTP')('bodies', () => {
    it.each([
      ['{"skillMd":', 400],
      ['[]', 400],
      ['null', 400],
      ['"text"', 400],
      [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400],
    ])('are refused if they are not JSON objects: %j', async (body, status) => {
      expect((await put(body as BodyInit)).status).toBe(status)
    })

    it('are refused with 415 if they are not JSON or an archive, and with 413 above the size limit', async () => {
      expect((await put('name: x', 'application/yaml')).status).toBe(415)
      expect((await put(new Uint8Array(limits.bodyBytesMax + 1))).status).toBe(413)
    })
  })
})

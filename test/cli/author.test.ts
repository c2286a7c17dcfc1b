import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkPortability, parseSkillMd } from '@skillstead/skill-format'
import { toNewSkill } from '../../packages/cli/src/scan/skill-template.ts'
import { makeFolder, skillstead, skillsteadJson } from '../support/cli-harness.ts'
import { sampleOf } from '../support/security-samples.ts'

interface Linted {
  ok: boolean
  skills: {
    id: string
    portable: boolean
    warnings: { code: string; message: string }[]
    security: { verdict: string }
  }[]
  unreadable: { id: string; reason: string }[]
}

describe('a new skill on the command line', { timeout: 180_000 }, () => {
  let cwd: string
  let at: string[]
  async function write(path: string, text: string) {
    await mkdir(join(cwd, path, '..'), { recursive: true })
    await writeFile(join(cwd, path), text)
  }
  beforeAll(async () => {
    cwd = await makeFolder()
    at = ['--data', join(cwd, 'data')]
    for (const name of ['alice', 'bob']) await skillsteadJson(['users', 'create', name, ...at])
    await write('ready/SKILL.md', toNewSkill('ready', 'Is ready to be published.'))
    await write('danger/SKILL.md', sampleOf('dangerous', 'danger'))
  })

  it.each([
    ['without a description', [], ['field_refused', ...Array(5).fill('template_text')]],
    ['with a description', ['--description', 'Tidies up.'], Array(5).fill('template_text')],
  ])('does not pass `lint` before it was filled in: %s', async (_, given, codes) => {
    const folder = await makeFolder()
    await skillsteadJson(['init', 'empty', ...given], { cwd: folder })
    const { code, stdout } = await skillstead(['lint', 'empty', '--json'], { cwd: folder })
    const { ok, skills } = JSON.parse(stdout) as Linted
    expect({ code, ok }).toEqual({ code: 1, ok: false })
    expect(skills[0]!.warnings.map((warning) => warning.code)).toEqual(codes)
    const text = await readFile(join(folder, 'empty', 'SKILL.md'), 'utf8')
    await writeFile(join(folder, 'empty', 'SKILL.md'), text.replaceAll('\n', '\r\n'))
    expect((await skillstead(['lint', 'empty', '--client', 'codex'], { cwd: folder })).code).toBe(1)
  })

  it('starts with a SKILL.md from `init`, which passes `lint` when filled in and is never overwritten', async () => {
    const made = await skillsteadJson(['init', 'tidy-up', '--description', 'Tidies: "all", of it # now'], { cwd })
    expect(made).toEqual({ name: 'tidy-up', folder: 'tidy-up' })
    const path = join(cwd, 'tidy-up', 'SKILL.md')
    const [frontmatter = ''] = (await readFile(path, 'utf8')).split('\n# ')
    await writeFile(path, `${frontmatter}\n# Tidy up\n\nPut all files of a kind into one folder.\n`)
    const linted = await skillstead(['lint', 'tidy-up'], { cwd })
    expect(linted).toEqual({
      code: 0,
      stdout: 'tidy-up/SKILL.md: portable; no known sign of harm, 100 of 100, risk none\n',
      stderr: '',
    })
    const before = await readFile(join(cwd, 'tidy-up', 'SKILL.md'))
    const again = await skillstead(['init', 'tidy-up'], { cwd })
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('already exists') })
    expect(await readFile(join(cwd, 'tidy-up', 'SKILL.md'))).toEqual(before)
    const below = await skillstead(['init', 'inner', '--dir', 'tidy-up/SKILL.md'], { cwd })
    expect(below).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('is below a file') })
    const wrong = await skillstead(['init', 'Tidy Up!'], { cwd })
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('such as tidy-up.') })
  })

  it('is portable if `init` has created it, whatever description was given', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 500 }), (description) => {
        fc.pre(description.trim() !== '')
        const text = toNewSkill('x', description)
        const parsed = parseSkillMd(text)
        expect(parsed.frontmatter.description).toBe(description)
        expect(checkPortability(text, parsed, { folderName: 'x' })).toMatchObject({ portable: true })
      }),
    )
  })

  it('is checked by `lint` against the open format and the scan rules, without a registry', async () => {
    for (const [path, text] of Object.entries({
      'many/good/SKILL.md': '---\nname: good\ndescription: Does good.\n---\nDo it.\n',
      'many/other/SKILL.md': '---\nname: differs\ndescription: Does it.\ncolour: red\n---\nDo it.\n',
      'caution/SKILL.md': sampleOf('caution', 'caution'),
    }))
      await write(path, text)
    const { code, stdout } = await skillstead(['lint', 'many', '--json'], { cwd })
    expect(code).toBe(1)
    const { ok, skills } = JSON.parse(stdout) as Linted
    expect(ok).toBe(false)
    expect(skills.map(({ id, portable }) => [id, portable])).toEqual([
      ['many/good/SKILL.md', true],
      ['many/other/SKILL.md', false],
    ])
    expect(skills[1]!.warnings.map((warning) => warning.code).toSorted()).toEqual([
      'key_not_standard',
      'name_folder_differs',
    ])
    const danger = await skillstead(['lint', 'danger'], { cwd })
    expect(danger.code).toBe(1)
    expect(danger.stdout).toMatch(/dangerous.*\n[^]* {6}fix: /)
    expect((await skillstead(['lint', 'caution/SKILL.md', '--fail-on', 'caution'], { cwd })).code).toBe(1)
  })

  it.each([
    ['511 files', 511, 0, []],
    ['512 files', 512, 0, ['The version has 513 files with SKILL.md; 512 are allowed.']],
    ['513 files', 513, 0, ['The version has 514 files with SKILL.md; 512 are allowed.']],
    ['600 files', 600, 0, ['The version has 601 files with SKILL.md; 512 are allowed.']],
    ['links to its files', 1, 511, ['The version has 513 files with SKILL.md; 512 are allowed.']],
  ])('is refused by `lint` as by `publish` for too many files: %s', async (_, files, links, reasons) => {
    const folder = join(await makeFolder(), 'many')
    await mkdir(folder)
    await writeFile(join(folder, 'SKILL.md'), '---\nname: many\ndescription: Does it.\n---\nDo it.\n')
    for (let i = 0; i < files; i += 1) await writeFile(join(folder, `f${i}.md`), `Text ${i}.`)
    for (let i = 0; i < links; i += 1) await symlink('f0.md', join(folder, `l${i}.md`))
    const { code, stdout } = await skillstead(['lint', folder, '--json'])
    const { skills } = JSON.parse(stdout) as Linted
    const refused = skills[0]!.warnings.filter((warning) => warning.code === 'file_refused')
    expect(refused).toEqual(
      reasons.map((reason) => ({ code: 'file_refused', message: expect.stringContaining(reason) })),
    )
    const published = await skillstead(['publish', folder, '--dry-run', '--owner', 'alice', ...at])
    expect([code, published.code]).toEqual(reasons.length > 0 ? [1, 1] : [0, 0])
    expect(published.stderr).toContain(reasons.join(' '))
  })

  it('is checked by `lint --client`, which reports ignored fields, and fails for a client that skips the skill', async () => {
    const lines = ['---', 'name: hooked', 'description: Runs a hook.', 'hooks: a', 'license: MIT', '---', 'Text.', '']
    await write('hooked/SKILL.md', lines.join('\n'))
    const plain = await skillstead(['lint', 'hooked'], { cwd })
    expect(plain.code).toBe(1)
    expect(plain.stdout).toContain('Leave it: Claude Code reads it only at the top level.')
    const loaded = await skillstead(['lint', 'hooked', '--client', 'claude-code,codex'], { cwd })
    expect(loaded.code).toBe(0)
    expect(loaded.stdout).toContain('  claude-code: loads it; ignores license\n')
    expect(loaded.stdout).toContain('  codex: loads it; ignores hooks, license\n')
    const skipped = await skillstead(['lint', 'hooked', '--client', 'agentskills', '--json'], { cwd })
    expect(skipped.code).toBe(1)
    expect(JSON.parse(skipped.stdout).skills[0].clients).toEqual([
      expect.objectContaining({ client: 'agentskills', loads: false, notes: [expect.stringMatching(/^skips it: /)] }),
    ])
    // What a publish refuses is a failure for every client.
    await write('unnamed/SKILL.md', '---\nname: "{{NAME}}"\ndescription: d\n---\nText.\n')
    expect((await skillstead(['lint', 'unnamed', '--client', 'claude-code'], { cwd })).code).toBe(1)
  })

  it.each([
    [['lint', '.', '--client', 'nothing'], 2, "'nothing' is not a known client. Use any of agentskills, claude-code,"],
    [['lint', 'nowhere'], 1, 'nowhere does not exist.'],
    [['lint', 'https://example.org/SKILL.md'], 2, 'skillstead scan https://example.org/SKILL.md'],
    [['lint', '.', '--fail-on', 'safe'], 2, "'safe' is not a valid verdict"],
    [['publish', 'tidy-up', '--data', 'data'], 2, 'The owner is missing. Pass --owner NAME.'],
    [['fork', 'tidy-up', '--data', 'data'], 2, 'The owner of the fork is missing. Pass --user NAME.'],
    [['star', 'tidy-up', '--data', 'data'], 2, 'The user is missing. Pass --user NAME.'],
  ])('%j fails with exit code %i and one sentence', async (args, code, sentence) => {
    const finished = await skillstead(args, { cwd })
    expect(finished).toMatchObject({ code, stdout: '' })
    expect(finished.stderr).toContain(sentence)
    expect(finished.stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  it.each([
    ['another key', 'colour: red\n'],
    ['repaired text', 'license: a: b\n'],
  ])('is published with a warning if it is not portable: %s', async (what, line) => {
    const place = ['--data', join(await makeFolder(), 'data')]
    await skillsteadJson(['users', 'create', 'bob', ...place])
    const name = `odd-${what.length}`
    await write(`${name}/SKILL.md`, `---\nname: ${name}\ndescription: Does it.\n${line}---\nDo it.\n`)
    const warning = 'arning: it is not portable: strict readers of the open format would reject it.\n'
    const dry = await skillstead(['publish', name, '--owner', 'bob', '--dry-run', ...place], { cwd })
    expect(dry.stdout).toContain(warning)
    const { code, stdout, stderr } = await skillstead(['publish', name, '--owner', 'bob', ...place], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`bob/${name}@1.0.0: W${warning}`) })
    expect(stdout).toMatch(/^Published/)
    const again = await skillstead(['publish', name, '--owner', 'bob', ...place], { cwd })
    expect(again.stderr).not.toContain(warning)
  })

  it('is not published from a folder of several skills, which the error lists', async () => {
    const cases: [string[], string?][] = [
      [['one/SKILL.md', 'two/deep/SKILL.md'], 'contains 2 skills: one, two/deep. Publish one of them'],
      [Array.from({ length: 12 }, (_, i) => `s${i}/skill.md`), 's7 and 2 more. Publish one of them'],
      [['below/one/SKILL.md']],
      [['SKILL.md', 'nested/SKILL.md']],
      [['notes.md'], 'contains no SKILL.md.'],
    ]
    for (const [index, [paths, refusal]] of cases.entries()) {
      const name = `several-${index}`
      for (const path of paths) await write(join(name, path), toNewSkill(name, 'Is one of them.'))
      const done = await skillstead(['publish', name, '--owner', 'alice', '--dry-run', ...at], { cwd })
      expect(done.code).toBe(refusal === undefined ? 0 : 1)
      expect(done.stdout + done.stderr).toContain(refusal ?? `alice/${name}@1.0.0`)
    }
  })

  it('is shown with its scan findings by a dry run of `publish`, which stores nothing', async () => {
    const dry = await skillstead(['publish', 'ready', '--owner', 'alice', '--dry-run', ...at], { cwd })
    expect(dry.stdout).toBe(
      'It would be published as alice/ready@1.0.0. Nothing was stored.\nIt is portable.\n' +
        'Scan verdict: no known sign of harm, 100 of 100, risk none.\n',
    )
    const danger = ['publish', 'danger', '--owner', 'alice', '--dry-run', ...at]
    expect((await skillstead(danger, { cwd })).stdout).toMatch(/Scan verdict: dangerous,.*\n {2}SKILL\.md:\d+:\d+ /)
    const read = await skillsteadJson<object>(danger, { cwd })
    expect(read).toMatchObject({ dryRun: true, version: '1.0.0', security: { verdict: 'dangerous' } })
    expect((await skillstead(['search', '', ...at])).stdout).toBe('0 found.\n')
  })

  it('can be forked and starred by other users', async () => {
    await skillsteadJson(['publish', 'ready', '--owner', 'alice', ...at], { cwd })
    const forked = await skillstead(['fork', 'alice/ready', 'neat', '--user', 'bob', ...at])
    expect(forked.stdout).toBe('bob/neat@1.0.0 is now in your account, a fork of alice/ready@1.0.0.\n')
    const star = ['star', 'alice/ready', '--user', 'bob', ...at]
    expect((await skillstead(star)).stdout).toBe('alice/ready has your star; 1 in all.\n')
    expect(await skillsteadJson([...star, '--remove'])).toEqual({ name: 'alice/ready', starred: false, stars: 0 })
  })
})

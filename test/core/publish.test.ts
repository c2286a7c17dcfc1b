import { beforeAll, describe, expect, it } from 'vitest'
import { codeOf, fieldsOf, refusalOf, skillMd, textOf } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

describeApi('publishing', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
  })

  describe('a version', () => {
    it('is created with 201; the same content again returns 200 and creates nothing', async () => {
      const input = { skillMd: skillMd('first') }
      expect(await test.statusOf(alice, 'publishSkill', input)).toBe(201)
      expect(await test.statusOf(alice, 'publishSkill', input)).toBe(200)
      const { created, version, skill } = await alice.api.publishSkill(input)
      expect({ created, number: version.version, fullName: skill.fullName }).toEqual({
        created: false,
        number: '1.0.0',
        fullName: 'alice/first',
      })
      expect(skill.versions).toHaveLength(1)
    })

    it('with new content and no number is the next patch', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('patched') })
      const { version, created } = await alice.api.publishSkill({ skillMd: skillMd('patched', { body: 'Other.' }) })
      expect({ created, number: version.version }).toEqual({ created: true, number: '1.0.1' })
    })

    it('is latest by its number, not by its date', async () => {
      for (const version of ['1.9.0', '1.10.0', '1.2.0']) {
        await alice.api.publishSkill({ skillMd: skillMd('ordered', { body: version }), version })
      }
      const { latestVersion, versions } = await test.api().getSkill({ name: 'alice/ordered' })
      expect(latestVersion).toBe('1.10.0')
      expect(versions.map(({ version }) => version)).toEqual(['1.10.0', '1.9.0', '1.2.0'])
      const next = await alice.api.publishSkill({ skillMd: skillMd('ordered', { body: 'next' }) })
      expect(next.version.version).toBe('1.10.1')
    })

    it('is immutable: a second publish of its number succeeds only with the same content', async () => {
      const first = skillMd('fixed')
      await alice.api.publishSkill({ skillMd: first, version: '2.0.0' })
      expect(await codeOf(alice.api.publishSkill({ skillMd: `${first}x`, version: '2.0.0' }))).toBe('version_exists')
      expect(await test.statusOf(alice, 'publishSkill', { skillMd: first, version: '2.0.0' })).toBe(200)
      expect(await textOf(await alice.api.getSkillMd({ name: 'alice/fixed' }))).toBe(first)
    })

    it('may have the same content as another version with a different number', async () => {
      const same = skillMd('twice')
      await alice.api.publishSkill({ skillMd: same, version: '1.0.0' })
      const { created, version } = await alice.api.publishSkill({ skillMd: same, version: '1.1.0' })
      expect({ created, number: version.version }).toEqual({ created: true, number: '1.1.0' })
    })

    it('takes its number from the frontmatter if the number there has three parts', async () => {
      const { version } = await alice.api.publishSkill({ skillMd: skillMd('numbered', { version: '3.1.4' }) })
      expect(version.version).toBe('3.1.4')
      const half = { skillMd: skillMd('half-numbered', { version: '3.1' }) }
      const refusal = await refusalOf(alice.api.publishSkill(half))
      expect(refusal.message).toBe("version '3.1' is not three numbers. Write '3.1.0', or pass a version.")
      const answer = await alice.api.publishSkill({ ...half, version: '2.0.0' })
      expect(answer.version.version).toBe('2.0.0')
      expect(answer.warnings.map(({ code }) => code)).toContain('version_ignored')
    })

    it('keeps its changelog, and inherits no files', async () => {
      const name = 'filed'
      const files = [{ path: 'scripts/run.sh', content: 'echo hi\n' }]
      const one = await alice.api.publishSkill({ skillMd: skillMd(name), files, changelog: 'First.' })
      expect(one.version.files.map(({ path }) => path)).toEqual(['SKILL.md', 'scripts/run.sh'])
      const two = await alice.api.publishSkill({ skillMd: skillMd(name), changelog: 'Without the script.' })
      expect(two.version).toMatchObject({ version: '1.0.1', changelog: 'Without the script.' })
      expect(two.version.files.map(({ path }) => path)).toEqual(['SKILL.md'])
      expect(two.skill.versions.map(({ changelog }) => changelog)).toEqual(['Without the script.', 'First.'])
    })

    it('is created by only one of several concurrent publishes with its number and different content', async () => {
      const inputs = Array.from({ length: 8 }, (_, i) => ({
        skillMd: skillMd('raced', { body: `${i}` }),
        version: '1.0.0',
      }))
      const outcomes = await Promise.allSettled(inputs.map((input) => alice.api.publishSkill(input)))
      const made = outcomes.filter((outcome) => outcome.status === 'fulfilled')
      const codes = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason.code as string] : [],
      )
      expect(made.map(({ value }) => value.created)).toEqual([true])
      expect(codes).toEqual(Array(7).fill('version_exists'))
    })

    it('is created once by several concurrent publishes with the same content, without an error', async () => {
      const input = { skillMd: skillMd('raced-alike') }
      const answers = await Promise.all(Array.from({ length: 8 }, () => alice.api.publishSkill(input)))
      expect(answers.filter(({ created }) => created)).toHaveLength(1)
      expect(new Set(answers.map(({ version }) => version.version))).toEqual(new Set(['1.0.0']))
    })
  })

  describe('the frontmatter and the request', () => {
    it('must agree: the error names both values of each field', async () => {
      const input = {
        skillMd: skillMd('agreed', { version: '1.0.0' }),
        name: 'other',
        version: '2.0.0',
        description: 'Else.',
      }
      const refusal = await refusalOf(alice.api.publishSkill(input))
      expect(refusal.code).toBe('invalid_skill')
      expect(refusal.errors.map(({ path }) => path).toSorted()).toEqual(['description', 'name', 'version'])
      for (const value of ['agreed', 'other', '1.0.0', '2.0.0', 'Else.', 'What agreed does.']) {
        expect(refusal.message).toContain(`'${value}'`)
      }
    })

    it('complete each other: fields that the frontmatter omits come from the request', async () => {
      const text = '---\nname: completed\n---\n# Completed\n'
      const { skill } = await alice.api.publishSkill({
        skillMd: text,
        description: 'Given along.',
        license: 'MIT',
        category: 'Testing',
        keywords: ['b', 'a'],
        repository: 'https://example.com/repo',
      })
      expect(skill).toMatchObject({ description: 'Given along.', license: 'MIT', category: 'Testing' })
      expect(skill.keywords, 'in the order of publication').toEqual(['b', 'a'])
      expect(skill.repository).toBe('https://example.com/repo')
    })

    it('leave the category and the license empty if both omit them', async () => {
      const { skill } = await alice.api.publishSkill({ skillMd: skillMd('bare') })
      expect(skill).toMatchObject({ category: '', license: '', keywords: [], deprecated: false, visibility: 'public' })
    })

    it('keep an invalid frontmatter name as the displayName, with a warning, if the request has a valid name', async () => {
      const text = '---\nname: Connection Pooling\ndescription: Pools.\n---\n'
      const { skill, warnings } = await alice.api.publishSkill({ skillMd: text, name: 'connection-pooling' })
      expect(skill).toMatchObject({ name: 'connection-pooling', displayName: 'Connection Pooling' })
      expect(warnings.map(({ code }) => code)).toContain('name_pattern')
    })

    it('give the description as the summary if the text has no sentence', async () => {
      for (const [name, body] of [
        ['no-text', ''],
        ['heading-alone', '# Heading'],
        ['colon-alone', 'This skill:'],
      ]) {
        await alice.api.publishSkill({ skillMd: `---\nname: ${name}\ndescription: Draws maps.\n---\n${body}` })
        const { summary } = await alice.api.loadSkill({ name: `alice/${name}`, level: 'summary' })
        expect(summary, name).toBe('Draws maps.')
      }
    })

    it('must together have a name and a description', async () => {
      const refusal = await refusalOf(alice.api.publishSkill({ skillMd: '# Nothing\n' }))
      expect(refusal.code).toBe('invalid_skill')
      expect(refusal.errors.map(({ path }) => path)).toEqual(['name', 'description'])
    })

    it('may not have a name in the request with capitals, look-alike letters or invisible characters', async () => {
      expect(await fieldsOf(alice.api.publishSkill({ skillMd: '# x', name: 'PDF', description: 'x' }))).toEqual([
        'name',
      ])
      // A Cyrillic letter, a full-width one and an accent.
      for (const name of ['\u0440df', '\uFF50df', 'pd\u0301f', 'pdf\u200B', '-pdf', 'p--df', 'a'.repeat(65)]) {
        expect(await codeOf(alice.api.publishSkill({ skillMd: '# x', name, description: 'x' })), `${name}`).toBe(
          'invalid_request',
        )
      }
    })

    it('may not have an invalid name, unless the request accepts the valid name that the error suggests', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('data-tools') })
      const other = { skillMd: skillMd('Data_Tools') }
      const refused = await refusalOf(alice.api.publishSkill(other))
      expect(refused.code).toBe('invalid_skill')
      expect(refused.errors).toEqual([{ path: 'name', message: expect.stringContaining("Use 'data-tools'") }])
      // The command line shows the same words, so they name no parameter of the API.
      expect(refused.errors?.[0]?.message).toMatch(/ To accept that name, pass the name data-tools\.$/)
      const nameless = await refusalOf(alice.api.publishSkill({ skillMd: '# No frontmatter' }))
      const message = 'is missing. Write it in the frontmatter of SKILL.md, or pass it.'
      expect(nameless.errors).toContainEqual({ path: 'name', message })
      expect(await codeOf(alice.api.publishSkill({ ...other, dryRun: true }))).toBe('invalid_skill')
      for (const accepted of [{ normalizeName: true }, { name: 'data-tools' }]) {
        const { version } = await alice.api.publishSkill({ ...other, ...accepted, dryRun: true })
        expect(version.version).toBe('1.0.1')
      }
    })

    it('may not have a pre-release version, unless the request has a release version', async () => {
      const preview = { skillMd: skillMd('preview', { version: '1.0.0-beta' }) }
      expect(await fieldsOf(alice.api.publishSkill(preview))).toEqual(['version'])
      expect((await alice.api.publishSkill({ ...preview, version: '0.9.0' })).version.version).toBe('0.9.0')
    })

    it('may not have a key with wrong upper or lower case: the error names the key', async () => {
      const { errors } = await refusalOf(
        alice.api.publishSkill({ skillMd: '---\nname: upper\nDescription: Draws a map.\n---\n# Map\n' }),
      )
      expect(errors).toEqual([{ path: 'description', message: expect.stringContaining("The key 'Description'") }])
    })
  })

  describe('real documents', () => {
    it.each([
      ['CRLF line ends', 'real-crlf', '---\r\nname: real-crlf\r\ndescription: Ends.\r\n---\r\n# Title\r\n', 'Ends.'],
      ['a byte order mark', 'real-bom', '\uFEFF---\nname: real-bom\ndescription: Marked.\n---\n', 'Marked.'],
      [
        'a colon in a value',
        'real-colon',
        '---\nname: real-colon\ndescription: Use when: asked\n---\n',
        'Use when: asked',
      ],
      ['further keys', 'real-keys', '---\nname: real-keys\ndescription: More.\ncolor: red\n---\n', 'More.'],
      ['flow style', 'real-flow', '---\n{name: real-flow, description: Flows.}\n---\n', 'Flows.'],
    ])('with %s are accepted unchanged', async (_, name, text, description) => {
      const { skill, version, warnings } = await alice.api.publishSkill({ skillMd: text })
      expect(skill).toMatchObject({ name, description })
      expect(version.portable, 'and the warnings say why not').toBe(warnings.length === 0)
      expect(await textOf(await alice.api.getSkillMd({ name: `alice/${name}` }))).toBe(text)
    })

    it('without frontmatter are accepted if the request has a name and a description', async () => {
      const { skill } = await alice.api.publishSkill({
        skillMd: '# Plain\n',
        name: 'real-plain',
        description: 'Plain.',
      })
      expect(skill).toMatchObject({ name: 'real-plain', description: 'Plain.', frontmatter: {} })
    })

    it('in the strict format of the specification are portable, and cause no warning', async () => {
      const { version, warnings } = await alice.api.publishSkill({ skillMd: skillMd('real-strict') })
      expect(version.portable).toBe(true)
      expect(warnings).toEqual([])
    })

    it('may not contain NUL, which is a sign of UTF-16', async () => {
      const text = skillMd('real-nul', { body: '# A\0B\n\nNothing\0 to see.\n' })
      expect(await fieldsOf(alice.api.publishSkill({ skillMd: text }))).toEqual(['SKILL.md'])
    })
  })

  describe('a dry run', () => {
    it('returns what would be stored, and stores nothing', async () => {
      const before = await test.api().getFeed({ limit: 1000 })
      const answer = await alice.api.publishSkill({
        skillMd: skillMd('tried', { description: 'Xylophone.' }),
        dryRun: true,
      })
      expect(answer).toMatchObject({ created: true, skill: { fullName: 'alice/tried' }, version: { version: '1.0.0' } })
      expect(await codeOf(alice.api.getSkill({ name: 'alice/tried' }))).toBe('not_found')
      expect((await alice.api.searchSkills({ q: 'xylophone' })).total).toBe(0)
      expect(await test.api().getFeed({ limit: 1000 })).toEqual(before)
      const { files } = answer.version
      expect(await codeOf(alice.api.getBlob({ digest: files[0]!.digest }))).toBe('not_found')
    })

    it('refuses what a publish would refuse', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('tried-taken'), version: '1.0.0' })
      const again = { skillMd: skillMd('tried-taken', { body: 'x' }), version: '1.0.0', dryRun: true }
      expect(await codeOf(alice.api.publishSkill(again))).toBe('version_exists')
    })

    it('of a metadata change does not change the skill', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('tried-meta') })
      const answer = await alice.api.publishSkill({ name: 'tried-meta', deprecated: true, dryRun: true })
      expect(answer.skill.deprecated).toBe(true)
      expect((await test.api().getSkill({ name: 'alice/tried-meta' })).deprecated).toBe(false)
    })
  })

  describe('metadata alone', () => {
    it('updates the skill with 200 and creates no version', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('meta') })
      const input = {
        name: 'meta',
        deprecated: true,
        deprecationMessage: 'Use other.',
        category: 'Old',
        keywords: ['x'],
      }
      expect(await test.statusOf(alice, 'publishSkill', input)).toBe(200)
      const skill = await test.api().getSkill({ name: 'alice/meta' })
      expect(skill).toMatchObject({
        deprecated: true,
        deprecationMessage: 'Use other.',
        category: 'Old',
        keywords: ['x'],
      })
      expect(skill.versions).toHaveLength(1)
    })

    it('requires a name, and a skill of the caller', async () => {
      const bob = await test.makeUser()
      await alice.api.publishSkill({ skillMd: skillMd('meta-hers') })
      expect(await codeOf(bob.api.publishSkill({ name: 'meta-hers', deprecated: true }))).toBe('not_found')
      expect(await codeOf(bob.api.publishSkill({ name: 'alice/meta-hers', deprecated: true }))).toBe('forbidden')
      expect(await fieldsOf(alice.api.publishSkill({ deprecated: true }))).toEqual(['skillMd'])
      expect(await fieldsOf(alice.api.publishSkill({ name: 'meta-hers', version: '9.0.0' }))).toEqual(['skillMd'])
    })

    it('updates the skill once if sent with the same content', async () => {
      const input = { skillMd: skillMd('meta-along'), keywords: ['zebra', 'ant'], license: 'MIT' }
      await alice.api.publishSkill({ skillMd: skillMd('meta-along'), keywords: ['zebra', 'ant'] })
      const { created, skill } = await alice.api.publishSkill(input)
      expect({ created, license: skill.license, keywords: skill.keywords }).toEqual({
        created: false,
        license: 'MIT',
        keywords: ['zebra', 'ant'],
      })
      const { head } = await test.api().getFeed()
      expect((await alice.api.publishSkill(input)).skill.keywords).toEqual(skill.keywords)
      expect((await test.api().getFeed()).head, 'a second time nothing changes').toBe(head)
    })
  })

  it('is for signed-in callers, under their own name', async () => {
    const bob = await test.makeUser()
    expect(await codeOf(test.api().publishSkill({ skillMd: skillMd('guest') }))).toBe('unauthorized')
    expect(await codeOf(bob.api.publishSkill({ skillMd: skillMd('hers'), name: 'alice/hers' }))).toBe('forbidden')
    expect(await codeOf(test.api().getSkill({ name: 'alice/hers' }))).toBe('not_found')
  })
})

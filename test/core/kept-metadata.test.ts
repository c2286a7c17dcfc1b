import { beforeAll, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { addUpstream, pull } from '../support/mirrored-acts.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'

describeDatabases('metadata that the owner changed after a publish', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let skills = 0
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
  })

  /** A skill with version 1.0.0, and how its next versions are published. */
  async function publishFirst() {
    const name = `notes-${(skills += 1)}`
    const publish = async (version: string, description?: string, more: object = {}) =>
      alice.api.publishSkill({
        skillMd: skillMd(name, { version, body: version, ...(description !== undefined && { description }) }),
        ...more,
      })
    const show = async (version?: string) => test.api().getSkill({ name: `alice/${name}`, ...(version && { version }) })
    await publish('1.0.0', 'Writes notes.')
    return { name, publish, show }
  }

  it('stays when the next versions have the same frontmatter', async () => {
    const { name, publish, show } = await publishFirst()
    await alice.api.publishSkill({
      name,
      description: 'Writes minutes.',
      displayName: 'Minutes',
      license: 'MIT',
      keywords: ['minutes'],
    })
    const kept = { description: 'Writes minutes.', displayName: 'Minutes', license: 'MIT', keywords: ['minutes'] }
    const { skill, warnings } = await publish('1.1.0', 'Writes notes.')
    expect(skill).toMatchObject({ latestVersion: '1.1.0', ...kept })
    const fields = 'description, display name, licence, keywords'
    expect(warnings).toEqual([
      { code: 'metadata_kept', message: expect.stringContaining(`shows the ${fields} that you`) },
    ])
    await publish('1.2.0', 'Writes notes.')
    expect(await show()).toMatchObject({ latestVersion: '1.2.0', ...kept })
    expect(await show('1.1.0')).toMatchObject({ description: 'Writes notes.', displayName: name, license: '' })
    const found = await test.api().searchSkills({ q: 'minutes' })
    expect(found.skills.map(({ fullName }) => fullName)).toContain(`alice/${name}`)
  })

  it('is replaced by a description in the frontmatter that differs from the previous version', async () => {
    const { name, publish, show } = await publishFirst()
    await alice.api.publishSkill({ name, description: 'Writes minutes.', license: 'MIT' })
    await publish('1.1.0', 'Writes notes, quickly.')
    expect(await show()).toMatchObject({ description: 'Writes notes, quickly.', license: 'MIT' })
    await publish('1.2.0', 'Writes notes.')
    expect(await show()).toMatchObject({ description: 'Writes notes.' })
  })

  it.each([
    ['stays when the versions name the same', 'writing', 'writing', 'minutes'],
    ['stays when the next version names none', 'writing', undefined, 'minutes'],
    ['stays when no version names one', undefined, undefined, 'minutes'],
    ['gives way to a first one', undefined, 'writing', 'writing'],
    ['gives way to another one', 'writing', 'letters', 'letters'],
  ])('has a category that %s', async (_title, said, says, shown) => {
    const { name, publish, show } = await publishFirst()
    const publishWith = async (version: string, category: string | undefined) => {
      const text = skillMd(name, { version, body: version })
      const lines = category === undefined ? '' : `category: ${category}\n`
      return publish(version, undefined, { skillMd: text.replace('name:', `${lines}name:`) })
    }
    await publishWith('1.1.0', said)
    await alice.api.publishSkill({ name, category: 'minutes' })
    const { skill } = await publishWith('1.2.0', says)
    expect(skill.category).toBe(shown)
    await publishWith('1.3.0', says)
    expect((await show()).category).toBe(shown)
    const found = await test.api().searchSkills({ category: shown, limit: 100 })
    expect(found.skills.map(({ fullName }) => fullName)).toContain(`alice/${name}`)
  })

  it('is replaced if the frontmatter first repeats the owner’s description and later changes it', async () => {
    const { name, publish, show } = await publishFirst()
    await alice.api.publishSkill({ name, description: 'Writes minutes.' })
    expect((await publish('1.1.0', 'Writes minutes.')).warnings).toEqual([])
    expect(await show()).toMatchObject({ description: 'Writes minutes.' })
    await publish('1.2.0', 'Writes notes.')
    expect(await show()).toMatchObject({ description: 'Writes notes.' })
  })

  it('stays while the latest version is yanked and restored', async () => {
    const { name, publish, show } = await publishFirst()
    await publish('1.1.0', 'Writes notes.')
    await alice.api.publishSkill({ name, description: 'Writes minutes.' })
    for (const change of ['yankVersion', 'unyankVersion'] as const) {
      await alice.api[change]({ name, version: '1.1.0' })
      expect(await show(), change).toMatchObject({ description: 'Writes minutes.' })
    }
  })

  it('is not changed by publishing an older version number, nor by a dry run', async () => {
    const { name, publish, show } = await publishFirst()
    await alice.api.publishSkill({ name, description: 'Writes minutes.' })
    expect((await publish('0.9.0', 'Writes letters.')).warnings).toEqual([])
    expect((await publish('2.0.0', 'Writes books.', { dryRun: true })).warnings).toEqual([])
    const kept = await publish('2.0.0', 'Writes notes.', { dryRun: true })
    expect(kept.warnings).toMatchObject([{ code: 'metadata_kept' }])
    expect(await show()).toMatchObject({ latestVersion: '1.0.0', description: 'Writes minutes.' })
  })

  it('is written to the feed after the entry of the new version', async () => {
    const { name, publish } = await publishFirst()
    await alice.api.publishSkill({ name, description: 'Writes minutes.' })
    const { next } = await test.api().getFeed({ limit: 1000 })
    await publish('1.1.0', 'Writes notes.')
    await publish('1.2.0', 'Writes books.')
    const { entries } = await test.api().getFeed({ since: next })
    expect(entries.map(({ type, data }) => [type, data['description']])).toEqual([
      ['version', 'Writes notes.'],
      ['skill', 'Writes minutes.'],
      ['version', 'Writes books.'],
    ])
  })

  it.each(['a new version', 'a yank'])('is shown by mirrors after %s', async (change) => {
    const { name, publish } = await publishFirst()
    const mirror = await open({ origin: 'mirror.example' })
    await addUpstream(mirror, 'up')
    if (change === 'a yank') await publish('1.1.0', 'Writes notes.')
    await alice.api.publishSkill({ name, description: 'Writes minutes.', keywords: ['minutes'], category: 'minutes' })
    await pull(mirror, 'up', test.api())
    if (change === 'a yank') await alice.api.yankVersion({ name, version: '1.1.0' })
    else await publish('1.1.0', 'Writes notes.')
    await pull(mirror, 'up', test.api())
    expect(await mirror.api().getSkill({ name: `alice/${name}` })).toMatchObject({
      latestVersion: change === 'a yank' ? '1.0.0' : '1.1.0',
      description: 'Writes minutes.',
      keywords: ['minutes'],
      category: 'minutes',
    })
  })
})

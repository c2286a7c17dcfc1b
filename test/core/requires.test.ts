import { setTimeout } from 'node:timers/promises'
import { limits, type Resolution } from '@skillstead/protocol'
import { partsOf } from '@skillstead/core/internal'
import { parseVersionRange } from '@skillstead/skill-format'
import { beforeAll, expect, it, vi } from 'vitest'
import { codeOf, fieldsOf, refusalOf } from '../support/answers.ts'
import { describeApi, describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { seededRandom } from '../support/random.ts'
import { hookUp } from '../support/webhook-emitted.ts'

interface Published {
  readonly version?: string
  readonly requires?: string
  readonly visibility?: 'public' | 'private'
  readonly lines?: string
}

function toSkillMd(name: string, { requires, lines = '' }: Published): string {
  const metadata = requires === undefined ? '' : `metadata:\n  requires: ${requires}\n`
  return `---\nname: ${name}\ndescription: What ${name} does.\n${metadata}${lines}---\n\n# ${name}\n\nSteps to follow.\n`
}

let bodies = 0
async function publish({ api }: TestUser, name: string, options: Published = {}) {
  const { version = '1.0.0', visibility } = options
  const skillMd = `${toSkillMd(name, options)}\nNumber ${++bodies}.\n`
  return api.publishSkill({ skillMd, version, visibility })
}

const textOf = ({ skills }: Resolution) => skills.map(({ fullName, version }) => `${fullName}@${version}`)
const resolve = async ({ api }: Pick<TestUser, 'api'>, ...names: string[]) =>
  api.resolveSkills({
    skills: names.map((text) => {
      const [name = '', range] = text.split('@')
      return { name, range }
    }),
  })
const noDeps =
  ' Install without what is required (--no-deps), or ask the author for a version that requires an existing owner/name.'
const conflictOf = async (...input: Parameters<typeof resolve>) => {
  const { code, message } = await refusalOf(resolve(...input))
  return `${code}: ${message}`
}

const toMissing = (name: string, advice: string) => ({
  code: 'required_missing',
  message: `There is no skill '${name}' that you may see. ${advice}`,
})
const toOwnerAdvice = (name: string) =>
  `A name without an owner means a skill of the same owner. Publish it, or write ${name} in requires.`

describeApi('resolving what skills require', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    for (const version of ['1.0.0', '1.4.0', '2.0.0']) await publish(alice, 'pdf', { version })
    await publish(alice, 'forms', { version: '1.0.0', requires: '[pdf@^1.0.0]' })
    await publish(alice, 'report', { version: '1.0.0', requires: '[pdf, forms@~1.0.0]' })
  })

  it('chooses the highest versions that satisfy all ranges, in the order of installation', async () => {
    const resolution = await resolve(alice, 'report')
    expect(textOf(resolution)).toEqual(['alice/pdf@1.4.0', 'alice/forms@1.0.0', 'alice/report@1.0.0'])
    const { digest } = await alice.api.getVersion({ name: 'alice/pdf', version: '1.4.0' })
    expect(resolution.skills[0]).toEqual({
      fullName: 'alice/pdf',
      version: '1.4.0',
      digest,
      requiredBy: [
        { fullName: 'alice/report', version: '1.0.0', range: '*' },
        { fullName: 'alice/forms', version: '1.0.0', range: '^1.0.0' },
      ],
      requires: { skills: [], commands: [], mcpServers: [], env: [] },
    })
    expect(resolution.skills[2]!.requiredBy).toEqual([])
    expect(resolution.missing).toEqual([])
  })

  it('applies the ranges in the request, and resolves several requested skills together', async () => {
    expect(textOf(await resolve(alice, 'pdf'))).toEqual(['alice/pdf@2.0.0'])
    expect(textOf(await resolve(alice, 'pdf@~1.0.0'))).toEqual(['alice/pdf@1.0.0'])
    expect(textOf(await resolve(alice, 'pdf@^1.0.0', 'forms'))).toEqual(['alice/pdf@1.4.0', 'alice/forms@1.0.0'])
    expect(await conflictOf(alice, 'pdf@2.0.0', 'forms')).toBe(
      'conflict: No version of alice/pdf satisfies all of its ranges: 2.0.0 (requested), ^1.0.0 (required by alice/forms 1.0.0). Offered versions: 2.0.0, 1.4.0, 1.0.0.',
    )
    expect(await fieldsOf(resolve(alice, 'pdf', 'forms@>>1'))).toEqual(['skills[1].range'])
    expect(await codeOf(resolve(alice, 'nothing'))).toBe('not_found')
  })

  it('chooses a lower version of a required skill if only that version resolves a conflict', async () => {
    await publish(bob, 'core', { version: '1.0.0' })
    await publish(bob, 'core', { version: '2.0.0' })
    await publish(bob, 'plugin', { version: '1.0.0', requires: '[core@^1.0.0]' })
    await publish(bob, 'plugin', { version: '1.1.0', requires: '[core@^2.0.0]' })
    await publish(bob, 'other', { requires: '[core@^1.0.0]' })
    await publish(bob, 'app', { requires: '[plugin, other]' })
    expect(textOf(await resolve(bob, 'app'))).toEqual([
      'bob/core@1.0.0',
      'bob/plugin@1.0.0',
      'bob/other@1.0.0',
      'bob/app@1.0.0',
    ])
  })

  it('explains a conflict with the chain of requirements that leads to each range', async () => {
    await publish(bob, 'left', { requires: '[alice/pdf@^1.0.0]' })
    await publish(bob, 'right', { requires: '[alice/pdf@^2.0.0]' })
    await publish(bob, 'torn', { requires: '[left, right]' })
    expect(await conflictOf(test.admin, 'bob/torn')).toBe(
      'conflict: No version of alice/pdf satisfies all of its ranges: ^1.0.0 (required by bob/torn 1.0.0 → bob/left 1.0.0), ^2.0.0 (required by bob/torn 1.0.0 → bob/right 1.0.0). Offered versions: 2.0.0, 1.4.0, 1.0.0.',
    )
  })

  it('does not explain a conflict that another version resolved', async () => {
    for (const version of ['1.0.0', '2.0.0']) await publish(bob, 'kernel', { version })
    await publish(bob, 'strict', { requires: '[kernel@^1.0.0]' })
    await publish(bob, 'deep', { requires: '[alice/pdf@^9.0.0]' })
    await publish(bob, 'doomed', { requires: '[kernel, strict, deep]' })
    expect(await conflictOf(bob, 'doomed')).toBe(
      'conflict: No version of alice/pdf satisfies its range: ^9.0.0 (required by bob/doomed 1.0.0 → bob/deep 1.0.0). Offered versions: 2.0.0, 1.4.0, 1.0.0.',
    )
  })

  it('fails with an error that names the skills of a cycle', async () => {
    await publish(bob, 'hen', { requires: '[bob/egg]' })
    await publish(bob, 'egg', { requires: '[chick]' })
    await publish(bob, 'chick', { requires: '[hen]' })
    expect(await conflictOf(bob, 'egg')).toMatch(
      /^conflict: bob\/(egg|chick|hen) 1.0.0 → bob\/\w+ 1.0.0 → bob\/\w+ 1.0.0 → bob\/\1 1.0.0 is a cycle\. /,
    )
  })

  it('reports which skill requires a missing skill, and omits optional skills that are missing', async () => {
    await publish(bob, 'broken', { requires: '[alice/nothing@^1.0.0]' })
    expect(await conflictOf(bob, 'broken')).toBe(
      `conflict: There is no skill 'alice/nothing' that you may see, and bob/broken 1.0.0 requires it.${noDeps}`,
    )
    await publish(bob, 'lenient', { lines: 'dependencies: [numpy, alice/pdf]\n' })
    const resolution = await resolve(bob, 'lenient')
    expect(textOf(resolution)).toEqual(['alice/pdf@2.0.0', 'bob/lenient@1.0.0'])
    const requiredBy = { fullName: 'bob/lenient', version: '1.0.0', range: '*' }
    expect(resolution.missing).toEqual([{ name: 'bob/numpy', requiredBy }])
  })

  it.each(['yanked', 'recalled'] as const)('takes no %s version, unless the request names it exactly', async (how) => {
    const lib = `lib-${how}`
    await publish(bob, lib, { version: '1.0.0' })
    await publish(bob, lib, { version: '1.1.0' })
    await publish(bob, `user-${how}`, { requires: `[${lib}@^1.1.0]` })
    await withdraw(bob, lib, '1.1.0', how)
    expect(textOf(await resolve(bob, `${lib}@^1.0.0`))).toEqual([`bob/${lib}@1.0.0`])
    expect(textOf(await resolve(bob, `${lib}@1.1.0`))).toEqual([`bob/${lib}@1.1.0`])
    expect(await conflictOf(bob, `user-${how}`)).toBe(
      `conflict: No version of bob/${lib} satisfies its range: ^1.1.0 (required by bob/user-${how} 1.0.0). ` +
        'Offered versions: 1.0.0. Yanked or recalled: 1.1.0.',
    )
  })

  it('answers about private skills of others as if they did not exist', async () => {
    await publish(alice, 'hush', { visibility: 'private' })
    await publish(bob, 'nosy', { requires: '[alice/hush]' })
    const ofPrivate = await conflictOf(bob, 'nosy')
    expect(ofPrivate).toBe(
      `conflict: There is no skill 'alice/hush' that you may see, and bob/nosy 1.0.0 requires it.${noDeps}`,
    )
    const ofMissing = await conflictOf(bob, 'broken')
    expect(ofPrivate).toBe(ofMissing.replace('alice/nothing', 'alice/hush').replace('bob/broken', 'bob/nosy'))
    expect(textOf(await resolve(alice, 'bob/nosy'))).toEqual(['alice/hush@1.0.0', 'bob/nosy@1.0.0'])
    expect(await codeOf(resolve(bob, 'alice/hush'))).toBe('not_found')
  })

  it('takes a name without an owner as a skill of the same owner, never of another owner', async () => {
    const mallory = await test.makeUser('mallory')
    await publish(alice, 'inner', { visibility: 'private' })
    await publish(alice, 'outer', { requires: '[inner]' })
    await publish(mallory, 'held')
    await publish(mallory, 'stock', { visibility: 'private' })
    test.clock.advance(1000)
    await publish(alice, 'early', { requires: '[held, stock, soon]' })
    await publish(alice, 'packages', { lines: 'dependencies: "numpy>=1.0.0"\n' })
    test.clock.advance(1000)
    for (const name of ['inner', 'soon', 'numpy']) await publish(mallory, name)
    await mallory.api.publishSkill({ name: 'stock', visibility: 'public' })
    expect(textOf(await resolve(alice, 'outer'))).toEqual(['alice/inner@1.0.0', 'alice/outer@1.0.0'])
    expect(await conflictOf(bob, 'outer')).toMatch(/^conflict: There is no skill 'alice\/inner' that you may see/)
    expect(await conflictOf(bob, 'early')).toBe(
      "conflict: There is no skill 'alice/held' that you may see, and alice/early 1.0.0 requires it. Without an owner, 'held' means a " +
        'skill of alice. Install without what is required (--no-deps), or ask the author for a version that requires an existing owner/name.',
    )
    expect(textOf(await resolve(bob, 'packages'))).toEqual(['alice/packages@1.0.0'])
    for (const name of ['held', 'stock', 'soon'])
      expect((await mallory.api.listDependents({ name: `mallory/${name}` })).total).toBe(0)
    for (const name of ['held', 'stock', 'soon']) await publish(alice, name)
    expect(textOf(await resolve(bob, 'early'))).toHaveLength(4)
  })

  it('warns the author if a required skill is missing or has no version in the range, and suggests another name', async () => {
    await publish(alice, 'veiled', { visibility: 'private' })
    const requires = '[alice/pdf@^9.0.0, bob/nothing, pdf, veiled, core@^1.0.0]'
    const { warnings } = await publish(bob, 'careless', { requires })
    expect(warnings.filter(({ code }) => code.startsWith('required_'))).toEqual([
      { code: 'required_range', message: 'alice/pdf has no version in the range ^9.0.0 that is offered.' },
      toMissing('bob/nothing', 'Publish it, or write another name in requires.'),
      toMissing('bob/pdf', toOwnerAdvice('alice/pdf')),
      toMissing('bob/veiled', toOwnerAdvice('owner/veiled')),
    ])
  })

  it.each(['[bob/selfish]', '[selfish]', '{ skills: [bob/selfish@^1.0.0] }'])(
    'refuses a skill that requires itself, as %s',
    async (requires) => {
      const { code, errors } = await refusalOf(publish(bob, 'selfish', { requires }))
      expect([code, errors]).toEqual([
        'invalid_skill',
        [{ path: 'requires', message: expect.stringContaining('A skill cannot require itself') }],
      ])
    },
  )

  it('ignores a requirement of the skill itself in the field `dependencies`', async () => {
    await publish(bob, 'dreamer', { lines: 'dependencies: [bob/dreamer]\n' })
    expect(textOf(await resolve(bob, 'dreamer'))).toEqual(['bob/dreamer@1.0.0'])
  })

  it('accepts a range of the maximum length that a skill may state', async () => {
    expect(textOf(await resolve(alice, `pdf@${Array.from({ length: 20 }, () => '^1.0.0').join(' || ')}`))).toEqual([
      'alice/pdf@1.4.0',
    ])
    expect(await codeOf(resolve(alice, `pdf@${'1'.repeat(limits.rangeCharactersMax + 1)}`))).toBe('invalid_request')
  })

  it('reports a conflict only if no choice of versions satisfies all ranges', async () => {
    const random = seededRandom(7)
    const pick = (count: number) => Math.floor(random() * count)
    let explained = 0
    for (const round of Array.from({ length: 10 }, (_, i) => i)) {
      const names = Array.from({ length: 5 }, (_, i) => `r${round}-${i}`)
      for (const [i, name] of names.entries()) {
        const others = names.slice(0, i)
        for (const version of ['1.0.0', '2.0.0', '3.0.0']) {
          const ranges = ['^1.0.0', '^2.0.0', '^3.0.0', '>=2.0.0', '<3.0.0']
          const wanted = others.filter(() => pick(3) > 0).map((other) => `"${other}@${ranges[pick(ranges.length)]}"`)
          await publish(bob, name, { version, requires: `[${wanted.join(', ')}]` })
        }
      }
      const text = await resolve(bob, names[4]!).then(textOf, ({ message }: Error) => message)
      if (typeof text !== 'string') continue
      const [, listed = ''] = /^No version of \S+ satisfies (?:all of its ranges|its range): (.*)\. Offered/.exec(text)!
      const ranges = [...listed.matchAll(/(?:^|, )([^(,]+) \(/g)].map(([, range]) => parseVersionRange(range!)!)
      expect(ranges).not.toEqual([])
      const offered = ['1.0.0', '2.0.0', '3.0.0']
      expect([text, offered.filter((version) => ranges.every((range) => range.includes(version)))]).toEqual([text, []])
      explained += 1
    }
    expect(explained).toBeGreaterThan(0)
  })

  it('refuses invalid requirements when they are published, and says what to write', async () => {
    expect((await refusalOf(publish(alice, 'wrong', { requires: '[pdf@>>1]' }))).errors).toEqual([
      {
        path: 'requires',
        message:
          "'pdf@>>1' has no valid range. Write a range of versions such as ^1.2.0, ~1.2.0, >=1.0.0 or 1.2.3. (in 'metadata.requires')",
      },
    ])
    for (const requires of [
      '[wrong]',
      '["<script>"]',
      `[${Array.from({ length: 101 }, (_, i) => `s${i}`).join(', ')}]`,
    ])
      expect(await codeOf(publish(alice, 'wrong', { requires }))).toBe('invalid_skill')
  })
})

describeDatabases('resolutions of requirements', (open) => {
  it(
    'follow a chain of a thousand skills, report a cycle in the chain, and refuse a longer chain',
    { timeout: 120_000 },
    async () => {
      const test = await open()
      const alice = await test.makeUser('alice')
      const { database } = partsOf(test.registry)
      await publish(alice, 'seed', { requires: '[s1]' })
      const [skill] = await database.read
        .selectFrom('skills')
        .selectAll()
        .where('full_name', '=', 'alice/seed')
        .execute()
      const [version] = await database.read
        .selectFrom('versions')
        .selectAll()
        .where('skill_id', '=', skill!.id)
        .execute()
      const count = limits.resolveSkillsMax + 1
      await database.writer.write(async (trx) => {
        const { num: _num, listed: _listed, ...columns } = skill!
        for (let from = 1; from < count; from += 100) {
          const numbers = Array.from({ length: Math.min(100, count - from) }, (_, i) => from + i)
          const skills = numbers.map((i) => ({
            ...columns,
            id: `chain-${i}`,
            name: `s${i}`,
            full_name: `alice/s${i}`,
            holds_name: 0,
          }))
          await trx.insertInto('skills').values(skills).execute()
          const versions = numbers.map((i) => {
            const required = i === count - 1 ? [] : [{ name: `s${i + 1}`, range: '^1.0.0' }]
            const requires = JSON.stringify({ skills: required, commands: [], mcpServers: [], env: [] })
            return { ...version!, id: `chain-${i}`, skill_id: `chain-${i}`, requires }
          })
          await trx.insertInto('versions').values(versions).execute()
        }
      })
      const deep = await resolve(alice, 's1')
      expect(deep.skills).toHaveLength(limits.resolveSkillsMax)
      expect(textOf(deep)[0]).toBe(`alice/s${count - 1}@1.0.0`)
      expect(await conflictOf(alice, 'seed')).toMatch(/^invalid_request: This needs more than 1000 skills/)
      await database.writer.write(async (trx) => {
        const requires = JSON.stringify({ skills: [{ name: 's1', range: '*' }], commands: [], mcpServers: [], env: [] })
        await trx
          .updateTable('versions')
          .set({ requires })
          .where('id', '=', `chain-${count - 1}`)
          .execute()
      })
      expect(await conflictOf(alice, 's1')).toMatch(/ more → alice\/s\d+ 1.0.0 → alice\/s\d+ 1.0.0 is a cycle/)
    },
  )

  it('read the requirements of a version from its metadata if they are not stored separately', async () => {
    const test = await open()
    const alice = await test.makeUser('alice')
    await publish(alice, 'pdf')
    await publish(alice, 'report', { requires: '[pdf]' })
    await partsOf(test.registry).database.writer.write(async (trx) => {
      await trx.updateTable('versions').set({ requires: null }).execute()
    })
    expect(textOf(await resolve(alice, 'report'))).toEqual(['alice/pdf@1.0.0', 'alice/report@1.0.0'])
  })
})

describeApi('dependents', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice', { plan: 'pro' })
    bob = await test.makeUser('bob', { plan: 'pro' })
  })
  const dependentsOf = async (name: string, { api }: Pick<TestUser, 'api'> = { api: test.api() }) => {
    const { skills, total } = await api.listDependents({ name })
    expect(total).toBe(skills.length)
    return skills.map(({ fullName, range }) => `${fullName} ${range}`)
  }
  const countOf = async (name: string) => (await test.api().getSkill({ name })).dependents

  it('are listed for callers who may see them, and only public dependents are counted', async () => {
    await publish(alice, 'base')
    expect(await countOf('base')).toBe(0)
    await publish(bob, 'one', { requires: '[alice/base@^1.0.0]' })
    await publish(bob, 'short', { requires: '[base]' })
    await publish(bob, 'two', { requires: '[alice/base]' })
    await publish(bob, 'dark', { requires: '[alice/base]', visibility: 'private' })
    await publish(alice, 'three', { requires: '[base@1.x]' })
    expect(await dependentsOf('base')).toEqual(['alice/three 1.x', 'bob/one ^1.0.0', 'bob/two *'])
    expect(await dependentsOf('alice/base', bob)).toEqual([
      'alice/three 1.x',
      'bob/dark *',
      'bob/one ^1.0.0',
      'bob/two *',
    ])
    expect(await countOf('base')).toBe(3)
    expect((await test.api().listDependents({ name: 'base', limit: 1, page: 2 })).skills).toMatchObject([
      { fullName: 'bob/one' },
    ])
    expect(await codeOf(test.api().listDependents({ name: 'bob/dark' }))).toBe('not_found')
  })

  it('change with new versions, visibility and deletions, and if a short name means a newer skill', async () => {
    await publish(bob, 'one', { version: '1.1.0' })
    await bob.api.publishSkill({ name: 'two', visibility: 'private' })
    expect(await dependentsOf('base')).toEqual(['alice/three 1.x'])
    expect(await countOf('base')).toBe(1)
    await publish(bob, 'four', { requires: '[alice/base]' })
    expect(await countOf('base')).toBe(2)
    await publish(bob, 'base')
    expect([await countOf('alice/base'), await countOf('bob/base')]).toEqual([2, 1])
    expect(await dependentsOf('bob/base')).toEqual(['bob/short *'])
    await bob.api.deleteSkill({ name: 'short' })
    expect(await countOf('bob/base')).toBe(0)
  })

  it('have details that show what each version requires', async () => {
    await publish(alice, 'whole', {
      requires: '{ skills: [base@^1.0.0], commands: [git], mcpServers: [github], env: [TOKEN] }',
    })
    const requires = {
      skills: [{ name: 'base', range: '^1.0.0' }],
      commands: ['git'],
      mcpServers: ['github'],
      env: ['TOKEN'],
    }
    expect((await test.api().getSkill({ name: 'whole' })).requires).toEqual(requires)
    await publish(alice, 'whole', { version: '1.1.0' })
    expect((await test.api().getSkill({ name: 'whole' })).requires.skills).toEqual([])
    expect((await test.api().getSkill({ name: 'whole', version: '1.0.0' })).requires).toEqual(requires)
  })

  it.each(['yanked', 'recalled'] as const)('have owners who learn that a required version was %s', async (how) => {
    const lib = `lib-${how}`
    await publish(alice, lib, { version: '1.0.0' })
    await publish(alice, lib, { version: '1.1.0' })
    await publish(bob, `needs-${lib}`, { requires: `[alice/${lib}@^1.0.0]` })
    await publish(bob, `needs-old-${lib}`, { requires: `[alice/${lib}@1.0.0]` })
    const events = ['skill.dependency.withdrawn'] as const
    const [ofBob, ofAlice] = [
      await hookUp(test, bob, { events: [...events] }),
      await hookUp(test, alice, { events: [...events] }),
    ]
    const beat = async () => {
      const { updates } = await test
        .api()
        .heartbeat({ installedSkills: [{ skillName: `bob/needs-${lib}`, version: '1.0.0' }] })
      return updates.map(({ reason, message }) => `${reason}: ${message}`)
    }
    await withdraw(alice, lib, '1.1.0', how)
    const dependency = { fullName: `alice/${lib}`, range: '^1.0.0', versions: ['1.1.0'], reason: how }
    await vi.waitFor(async () => {
      expect(await ofBob.take()).toMatchObject([
        { data: { skill: { fullName: `bob/needs-${lib}` }, dependency, replacement: '1.0.0' } },
      ])
    }, 10_000)
    expect(await beat()).toEqual([])
    // What another version requires says nothing about the installed one.
    await publish(bob, `needs-${lib}`, { version: '1.1.0', requires: `[alice/${lib}@1.1.0]` })
    expect(await beat()).toEqual([expect.stringMatching(/^outdated: /)])
    await withdraw(alice, lib, '1.0.0', how)
    await publish(bob, `needs-${lib}`, { version: '1.2.0' })
    expect(await beat()).toEqual([
      `dependency_withdrawn: bob/needs-${lib} requires alice/${lib} ^1.0.0, of which no version is offered any more.`,
    ])
    await setTimeout(50)
    expect(await ofAlice.take()).toEqual([])
  })
})

async function withdraw({ api }: TestUser, name: string, version: string, how: 'yanked' | 'recalled'): Promise<void> {
  if (how === 'yanked') await api.yankVersion({ name, version })
  else await api.recallSkill({ name, range: version, reason: 'It deletes files.' })
}

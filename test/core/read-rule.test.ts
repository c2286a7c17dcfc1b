import { guest, type Caller } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { RegistryApi, RegistryError } from '@skillstead/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { isListedFor, isOpenToViewer } from '../../packages/core/src/visibility/conditions.ts'
import { isReaderOf, keepReaders, readReaders, readSights } from '../../packages/core/src/visibility/decisions.ts'
import { readRule, type ReaderKind, type Sight } from '../../packages/core/src/visibility/read-rule.ts'
import { skillMd } from '../support/answers.ts'
import { addCollaborator } from '../support/collaboration.ts'
import { submitCase } from '../support/dmca-cases.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const visibilities = ['public', 'internal', 'private'] as const
const states = ['live', 'hidden', 'taken_down', 'withdrawn'] as const

/** One skill of alice's for each state and visibility, named after them. */
const skills = states.flatMap((state) =>
  visibilities.map((visibility) => ({ state, visibility, name: `alice/${state.replace('_', '-')}-${visibility}` })),
)

const kindsOf: Record<string, readonly ReaderKind[]> = {
  guest: ['guest'],
  bob: ['guest', 'user'],
  carol: ['guest', 'user', 'collaborator'],
  alice: ['guest', 'user', 'owner'],
  admin: ['guest', 'user', 'administrator'],
}

/** What the table says. */
function toSight({ state, visibility }: (typeof skills)[number], kinds: readonly ReaderKind[]): Sight {
  const { sight, readers } = readRule[state]
  return readers[visibility].some((kind) => kinds.includes(kind)) ? sight : 'unseen'
}

/** What a request for the skill answers. */
async function readSight(api: RegistryApi, name: string): Promise<Sight> {
  return api.getSkill({ name }).then(
    () => 'seen',
    ({ code }: RegistryError) => (code === 'not_found' ? 'unseen' : (code as Sight)),
  )
}

describeApi('the read rule', (open) => {
  let test: TestRegistry
  const apis: Record<string, RegistryApi> = {}
  const callers: Record<string, Caller> = { guest }
  const shared = new Map<string, RegistryApi>()

  beforeAll(async () => {
    test = await open()
    const alice = await test.makeUser('alice')
    const users: Record<string, TestUser> = {
      alice,
      bob: await test.makeUser('bob'),
      carol: await test.makeUser('carol'),
      admin: test.admin,
    }
    apis['guest'] = test.api()
    for (const [name, { api, username }] of Object.entries(users)) {
      apis[name] = api
      const { id: userId, role } = await api.getMe({})
      callers[name] = { kind: 'user', userId, username, role, plan: 'free', scopes: [] }
    }
    const cases: string[] = []
    for (const { name, state, visibility } of skills) {
      const text = skillMd(name.split('/')[1]!, { description: `Quokka ${name}.` })
      await alice.api.publishSkill({ skillMd: text })
      // A case is about a skill that everyone sees; its owner may hide it before the decision.
      if (state === 'taken_down') cases.push((await submitCase(test, name)).id)
      await alice.api.publishSkill({ name: name.split('/')[1]!, visibility })
      await addCollaborator(test, alice, { name, username: 'carol', role: 'read' })
      const { token } = await alice.api.createShare({ name })
      shared.set(name, test.apiWith({ shareToken: token }))
    }
    const all = skills.map(({ name }) => name)
    await alice.api.createPack({ name: 'Quokkas', description: '', skills: all })
    for (const id of cases) await test.admin.api.updateDmca({ id, status: 'removed' })
    for (const { name, state } of skills) {
      if (state === 'hidden') await test.admin.api.moderateSkill({ name, state: 'hidden', reason: 'A test.' })
      if (state === 'withdrawn') await alice.api.deleteSkill({ name })
    }
  })

  describe.each(Object.keys(kindsOf))('for %s', (reader) => {
    const sights = Object.fromEntries(skills.map((skill) => [skill.name, toSight(skill, kindsOf[reader]!)]))
    const listed = skills.filter(({ name, state }) => state === 'live' && sights[name] === 'seen')
    const listedNames = listed.map(({ name }) => name).toSorted()

    it.each(skills)('decides what a request for $name answers', async ({ name }) => {
      expect(await readSight(apis[reader]!, name)).toBe(sights[name])
    })

    it('is the same in decisions about rows, stored readers and SQL', async () => {
      const context = partsOf(test.registry)
      const caller = callers[reader]!
      const users = caller.kind === 'user' ? [caller] : []
      const { read } = context.database
      const rows = await read.selectFrom('skills').selectAll().execute()
      const decided = await readSights(context, rows, caller)
      expect(Object.fromEntries(rows.map(({ id, full_name }) => [full_name, decided.get(id)]))).toEqual(sights)
      for (const row of rows) {
        const isSeen = sights[row.full_name] === 'seen'
        expect(isReaderOf(await readReaders(read, row), caller)).toBe(isSeen)
        expect(await keepReaders(read, row, users)).toEqual(isSeen ? users : [])
      }
      const viewer = caller.kind === 'user' ? caller.userId : null
      const found = read.selectFrom('skills').select('full_name').orderBy('full_name')
      for (const condition of [isOpenToViewer(viewer), isListedFor(caller)]) {
        const names = await found.where('state', '=', 'live').where(condition).execute()
        expect(names.map(({ full_name }) => full_name)).toEqual(listedNames)
      }
    })

    it('is the same in every list', async () => {
      const api = apis[reader]!
      const lists = {
        all: (await api.searchSkills({ limit: 100 })).skills,
        search: (await api.searchSkills({ q: 'quokka', limit: 100 })).skills,
        owner: (await api.searchSkills({ owner: 'alice', limit: 100 })).skills,
      }
      for (const [list, found] of Object.entries(lists)) {
        expect([list, ...found.map(({ fullName }) => fullName).toSorted()]).toEqual([list, ...listedNames])
      }
      const { suggestions } = await api.suggest({ q: 'live', limit: 20 })
      const completed = suggestions.filter((name) => name.startsWith('live-')).map((name) => `alice/${name}`)
      expect(completed.toSorted()).toEqual(listedNames)
      const pack = await api.getPack({ slug: 'quokkas' })
      const seen = skills.filter(({ name }) => sights[name] === 'seen').map(({ name }) => name)
      expect(pack.skills.map(({ fullName }) => fullName).toSorted()).toEqual(seen.toSorted())
    })
  })

  it.each(skills)('decides what the holder of a link to $name sees', async (skill) => {
    expect(await readSight(shared.get(skill.name)!, skill.name)).toBe(toSight(skill, ['guest', 'holder']))
  })
})

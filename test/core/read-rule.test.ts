import { guest, type Caller } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { RegistryApi, RegistryError } from '@skillstead/protocol'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { conditionsOf, isListedFor, isOpenToViewer } from '../../packages/core/src/visibility/conditions.ts'
import { judgeReaders, keepReaders, readReaders, readSights } from '../../packages/core/src/visibility/decisions.ts'
import { readRule, type ReaderKind, type Sight } from '../../packages/core/src/visibility/read-rule.ts'
import { skillMd } from '../support/answers.ts'
import { addCollaborator, makeOrganisation } from '../support/collaboration.ts'
import { submitCase } from '../support/dmca-cases.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const visibilities = ['public', 'internal', 'organisation', 'private'] as const
const states = ['live', 'hidden', 'taken_down', 'withdrawn'] as const
const owners = ['alice', 'acme'] as const

/** One skill of alice's, or of the organisation acme, for each state and visibility, named after them. */
const skills = owners.flatMap((owner) =>
  states.flatMap((state) =>
    visibilities
      .filter((visibility) => owner === 'acme' || visibility !== 'organisation')
      .map((visibility) => ({ owner, state, visibility, name: `${owner}/${state.replace('_', '-')}-${visibility}` })),
  ),
)

/** The roles of members of acme. */
const roles = {
  olga: 'owner',
  ada: 'admin',
  pete: 'publisher',
  rae: 'reviewer',
  rita: 'reader',
  tom: 'reader',
} as const

const signedIn: readonly ReaderKind[] = ['guest', 'user']
const insider: readonly ReaderKind[] = [...signedIn, 'insider']
const member: readonly ReaderKind[] = [...signedIn, 'member']
const kindsOf: Record<string, Record<(typeof owners)[number], readonly ReaderKind[]>> = {
  guest: { alice: ['guest'], acme: ['guest'] },
  bob: { alice: signedIn, acme: signedIn },
  carol: { alice: [...signedIn, 'collaborator'], acme: [...signedIn, 'collaborator'] },
  alice: { alice: [...signedIn, 'owner'], acme: signedIn },
  admin: { alice: [...signedIn, 'administrator'], acme: [...signedIn, 'administrator'] },
  olga: { alice: signedIn, acme: insider },
  ada: { alice: signedIn, acme: [...insider, 'collaborator'] },
  pete: { alice: signedIn, acme: insider },
  rae: { alice: signedIn, acme: insider },
  rita: { alice: signedIn, acme: member },
  // In a team that reads every skill of acme, as ada is.
  tom: { alice: signedIn, acme: [...member, 'collaborator'] },
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

describeApi('the rule for who can read a skill', (open) => {
  let test: TestRegistry
  const apis: Record<string, RegistryApi> = {}
  const callers: Record<string, Caller> = { guest }
  const shared = new Map<string, RegistryApi>()

  beforeAll(async () => {
    test = await open()
    const people = Object.fromEntries(
      await Promise.all(
        ['alice', 'bob', 'carol', ...Object.keys(roles)].map(
          async (name) => [name, await test.makeUser(name)] as const,
        ),
      ),
    ) as Record<string, TestUser>
    await makeOrganisation(test, 'acme', roles)
    apis['guest'] = test.api()
    for (const [name, { api, username }] of Object.entries({ ...people, admin: test.admin })) {
      apis[name] = api
      const { id: userId, role } = await api.getMe({})
      callers[name] = { kind: 'user', userId, username, role, plan: 'free', scopes: [] }
    }
    const cases: string[] = []
    const makers = { alice: people['alice']!, acme: people['olga']! }
    for (const { name, owner, state, visibility } of skills) {
      const { api } = makers[owner]
      const text = skillMd(name.split('/')[1]!, { description: `Quokka ${name}.` })
      await api.publishSkill({ name, skillMd: text })
      // A case is about a skill that everyone sees; its owner may hide it before the decision.
      if (state === 'taken_down') cases.push((await submitCase(test, name)).id)
      const narrowed =
        visibility === 'organisation' ? ({ visibility: 'internal', organisation: owner } as const) : { visibility }
      await api.publishSkill({ name, ...narrowed })
      await addCollaborator(test, makers[owner], { name, username: 'carol', role: 'read' })
      const { token } = await api.createShare({ name })
      shared.set(name, test.apiWith({ shareToken: token }))
    }
    const team = skills
      .filter(({ owner }) => owner === 'acme')
      .map(({ name }) => ({ name: name.slice(5), role: 'reader' as const }))
    await makers.acme.api.putTeam({ organisation: 'acme', team: 'readers', members: ['tom', 'ada'], skills: team })
    const all = skills.map(({ name }) => name)
    await people['carol']!.api.createPack({ name: 'Quokkas', description: '', skills: all })
    for (const id of cases) await test.admin.api.updateDmca({ id, status: 'removed' })
    for (const { name, owner, state } of skills) {
      if (state === 'hidden') await test.admin.api.moderateSkill({ name, state: 'hidden', reason: 'A test.' })
      if (state === 'withdrawn') await makers[owner].api.deleteSkill({ name })
    }
  })

  it('marks, in the search index, the skills that everyone sees in lists', async () => {
    const { dialect, read } = partsOf(test.registry).database
    if (dialect === 'sqlite') return
    const marked = await sql<{ full_name: string }>`select full_name from skill_text join skills using (num)
      where open order by full_name`.execute(read)
    const everyones = skills.filter((skill) => skill.state === 'live' && toSight(skill, ['guest']) === 'seen')
    expect(marked.rows.map((row) => row.full_name)).toEqual(everyones.map(({ name }) => name).toSorted())
  })

  describe.each(Object.keys(kindsOf))('applied to %s', (reader) => {
    const sights = Object.fromEntries(
      skills.map((skill) => [skill.name, toSight(skill, kindsOf[reader]![skill.owner])]),
    )
    const listed = skills.filter(({ name, state }) => state === 'live' && sights[name] === 'seen')
    const listedNames = listed.map(({ name }) => name).toSorted()

    it.each(skills)('decides what a request for $name returns', async ({ name }) => {
      expect(await readSight(apis[reader]!, name)).toBe(sights[name])
    })

    it('gives the same result in code, with the stored list of readers, and in SQL', async () => {
      const context = partsOf(test.registry)
      const caller = callers[reader]!
      const users = caller.kind === 'user' ? [caller] : []
      const { read } = context.database
      const rows = await read.selectFrom('skills').selectAll().execute()
      const decided = await readSights(context, rows, caller)
      expect(Object.fromEntries(rows.map(({ id, full_name }) => [full_name, decided.get(id)]))).toEqual(sights)
      const isReader = await judgeReaders(read, caller)
      for (const row of rows) {
        const isSeen = sights[row.full_name] === 'seen'
        expect(isReader(await readReaders(read, row))).toBe(isSeen)
        expect(await keepReaders(read, row, users)).toEqual(isSeen ? users : [])
      }
      const viewer = caller.kind === 'user' ? caller.userId : null
      const found = read.selectFrom('skills').select('full_name').orderBy('full_name')
      for (const condition of [isOpenToViewer(viewer), isListedFor(caller)]) {
        const names = await found.where('state', '=', 'live').where(condition).execute()
        expect(names.map(({ full_name }) => full_name)).toEqual(listedNames)
      }
      const conditions = conditionsOf(viewer).map((condition) => found.where('state', '=', 'live').where(condition))
      const apart = await Promise.all(conditions.map((select) => select.execute()))
      expect(
        apart
          .flat()
          .map(({ full_name }) => full_name)
          .toSorted(),
      ).toEqual(listedNames)
    })

    it('gives the same result in every list', async () => {
      const api = apis[reader]!
      const lists = {
        all: (await api.searchSkills({ limit: 100 })).skills,
        search: (await api.searchSkills({ q: 'quokka', limit: 100 })).skills,
        owner: [
          ...(await api.searchSkills({ owner: 'alice', limit: 100 })).skills,
          ...(await api.searchSkills({ owner: 'acme', limit: 100 })).skills,
        ],
      }
      for (const [list, found] of Object.entries(lists)) {
        expect([list, ...found.map(({ fullName }) => fullName).toSorted()]).toEqual([list, ...listedNames])
      }
      const { suggestions } = await api.suggest({ q: 'live', limit: 20 })
      const completed = suggestions.filter((name) => name.startsWith('live-'))
      const names = new Set(listedNames.map((name) => name.split('/')[1]))
      expect(completed.toSorted()).toEqual([...names].toSorted())
      const pack = await api.getPack({ slug: 'quokkas' })
      const seen = skills.filter(({ name }) => sights[name] === 'seen').map(({ name }) => name)
      expect(pack.skills.map(({ fullName }) => fullName).toSorted()).toEqual(seen.toSorted())
    })
  })

  it.each(skills)('decides what the holder of a link to $name sees', async (skill) => {
    expect(await readSight(shared.get(skill.name)!, skill.name)).toBe(toSight(skill, ['guest', 'holder']))
  })
})

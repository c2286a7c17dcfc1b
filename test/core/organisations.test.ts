import { localApi } from '@skillstead/core'
import { ensureNamespace, partsOf } from '@skillstead/core/internal'
import { memberRoles, rightsByRole, type MemberRole, type RegistryApi, type Right } from '@skillstead/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { codeOf, fieldsOf, refusalOf, skillMd } from '../support/answers.ts'
import { makeOrganisation } from '../support/collaboration.ts'
import { countQueries } from '../support/count-queries.ts'
import { describeApi, describeDatabases, type TestRegistry } from '../support/harness.ts'

let packs = 0

/** What each right allows, tried on a skill or on the organisation; every action leaves things as they were. */
const actions: Record<string, { right: Right; act: (api: RegistryApi) => Promise<unknown> }> = {
  'read a skill that is internal to it': { right: 'read', act: (api) => api.getSkill({ name: 'acme/inner' }) },
  'list the members': { right: 'read', act: (api) => api.listMembers({ organisation: 'acme' }) },
  'list the teams': { right: 'read', act: (api) => api.listTeams({ organisation: 'acme' }) },
  'read a private skill': { right: 'readPrivate', act: (api) => api.getSkill({ name: 'acme/secret' }) },
  'list all its skills': { right: 'readPrivate', act: (api) => api.listOwnSkills({ organisation: 'acme' }) },
  'publish a version': {
    right: 'publish',
    act: (api) => api.publishSkill({ name: 'acme/tool', skillMd: skillMd('tool', { body: `${Math.random()}` }) }),
  },
  'publish a new skill': {
    right: 'publish',
    act: (api) => api.publishSkill({ name: 'acme/unborn', skillMd: skillMd('unborn'), dryRun: true }),
  },
  'change the description': {
    right: 'publish',
    act: (api) => api.publishSkill({ name: 'acme/tool', description: 'Changed.', dryRun: true }),
  },
  'yank a version': { right: 'publish', act: (api) => api.yankVersion({ name: 'acme/yanked', version: '1.0.0' }) },
  'change the visibility': {
    right: 'manage',
    act: (api) => api.publishSkill({ name: 'acme/tool', visibility: 'private', dryRun: true }),
  },
  'share a skill': { right: 'manage', act: (api) => api.createShare({ name: 'acme/tool' }) },
  'invite a collaborator': {
    right: 'manage',
    act: (api) => api.putCollaborator({ name: 'acme/tool', username: 'guesty', role: 'read' }),
  },
  'see downloads by client': { right: 'manage', act: (api) => api.getDownloads({ name: 'acme/tool', by: 'client' }) },
  'offer a skill to another owner': {
    right: 'manage',
    act: async (api) => {
      await api.transferSkill({ name: 'acme/tool', newOwner: 'guesty' })
      await api.cancelTransfer({ name: 'acme/tool' })
    },
  },
  'create a pack': {
    right: 'publish',
    act: (api) => api.createPack({ name: 'Made', slug: `made-${++packs}`, description: '', skills: [], owner: 'acme' }),
  },
  'read a private pack': { right: 'readPrivate', act: (api) => api.getPack({ slug: 'inside' }) },
  'change a pack': {
    right: 'publish',
    act: (api) => api.updatePack({ slug: 'outside', description: `${++packs}`, visibility: 'internal' }),
  },
  'change the visibility of a pack': {
    right: 'manage',
    act: async (api) => {
      await api.updatePack({ slug: 'outside', visibility: 'public' })
      await api.updatePack({ slug: 'outside', visibility: 'internal' })
    },
  },
  'delete a pack': {
    right: 'manage',
    act: async (api) => api.deletePack({ slug: `of-${(await api.getMe({})).username}` }),
  },
  'rename the organisation': {
    right: 'administer',
    act: (api) => api.updateOrganisation({ organisation: 'acme', displayName: 'Acme Inc.' }),
  },
  'invite a member': {
    right: 'administer',
    act: (api) => api.putMember({ organisation: 'acme', username: 'guesty', role: 'reader' }),
  },
  'make a team': {
    right: 'administer',
    act: (api) => api.putTeam({ organisation: 'acme', team: 'writers', members: ['an-publisher'], skills: [] }),
  },
  'change a team': {
    right: 'administer',
    act: (api) => api.updateTeam({ organisation: 'acme', team: 'kept', add: { members: ['an-publisher'] } }),
  },
  'invite an owner': {
    right: 'own',
    act: (api) => api.putMember({ organisation: 'acme', username: 'guesty', role: 'owner' }),
  },
  'change the role of an owner': {
    right: 'own',
    act: (api) => api.putMember({ organisation: 'acme', username: 'second', role: 'owner' }),
  },
}

describeApi('the roles of an organisation', (open) => {
  let test: TestRegistry
  beforeAll(async () => {
    test = await open()
    const roles = Object.fromEntries(memberRoles.map((role) => [`an-${role}`, role]))
    for (const name of [...Object.keys(roles), 'second', 'guesty']) await test.makeUser(name)
    await makeOrganisation(test, 'acme', { ...roles, second: 'owner' })
    const { publishSkill } = test.api('an-owner')
    for (const name of ['tool', 'inner', 'secret', 'yanked'])
      await publishSkill({ name: `acme/${name}`, skillMd: skillMd(name) })
    await publishSkill({ name: 'acme/inner', visibility: 'internal', organisation: 'acme' })
    await publishSkill({ name: 'acme/secret', visibility: 'private' })
    const { createPack, putTeam } = test.api('an-owner')
    await putTeam({ organisation: 'acme', team: 'kept' })
    const pack = { description: '', skills: ['acme/tool'], owner: 'acme' }
    await createPack({ ...pack, name: 'Outside', visibility: 'internal' })
    await createPack({ ...pack, name: 'Inside', visibility: 'private' })
    for (const name of [...Object.keys(roles), 'guesty']) await createPack({ ...pack, name: `Of ${name}` })
  })

  describe.each(memberRoles)('%s', (role) => {
    it.each(Object.keys(actions))('may %s only if the role has the right', async (action) => {
      const { right, act } = actions[action]!
      const code = await act(test.api(`an-${role}`)).then(
        () => 'allowed',
        ({ code: refused }: { code: string }) => refused,
      )
      const isAllowed = rightsByRole[role].includes(right)
      // A skill or pack that the caller may not see does not exist.
      const refusal = action.startsWith('read a private') ? 'not_found' : 'forbidden'
      expect(code).toBe(isAllowed ? 'allowed' : refusal)
    })
  })

  it.each(Object.keys(actions))('allow no one without a role to %s', async (action) => {
    for (const api of [test.api('guesty'), test.api()]) {
      const expected = ['forbidden', 'not_found', 'unauthorized']
      expect(expected).toContain(await codeOf(actions[action]!.act(api)))
    }
  })

  it('are named in the error if the caller’s role lacks the right', async () => {
    const { message } = await refusalOf(test.api('an-reviewer').createShare({ name: 'acme/tool' }))
    expect(message).toContain('Your role is reviewer; this needs owner or admin.')
    const { message: other } = await refusalOf(test.api('guesty').listMembers({ organisation: 'acme' }))
    expect(other).toContain('you are not a member')
  })
})

describeApi('organisations', (open) => {
  let test: TestRegistry
  let made = 0
  beforeAll(async () => {
    test = await open()
    for (const name of ['olga', 'ada', 'pete', 'rita']) await test.makeUser(name)
  })

  /** A new organisation of olga's. */
  async function make(roles: Readonly<Record<string, MemberRole>> = {}): Promise<string> {
    const name = `org-${++made}`
    await makeOrganisation(test, name, { olga: 'owner', ...roles })
    return name
  }

  const publish = (organisation: string, name: string) =>
    test.api('olga').publishSkill({ name: `${organisation}/${name}`, skillMd: skillMd(name) })

  it('share the namespace of users, and cannot have API keys', async () => {
    const name = await make()
    expect(await codeOf(test.api('ada').createOrganisation({ name }))).toBe('name_taken')
    expect(await codeOf(test.api('ada').createOrganisation({ name: 'olga' }))).toBe('name_taken')
    expect(await codeOf(test.api('ada').createOrganisation({ name: 'packs' }))).toBe('name_taken')
    expect(await codeOf(test.makeUser(name))).toBe('name_taken')
    expect(await codeOf(test.admin.api.issueKey({ username: name, name: 'key' }))).toBe('conflict')
    expect(await codeOf(test.admin.api.updateUser({ username: name, role: 'admin' }))).toBe('conflict')
    expect(await test.api().getUser({ username: name })).toMatchObject({ kind: 'organisation', claimed: true })
  })

  it('can be created for another user only by administrators', async () => {
    expect(await codeOf(test.api('ada').createOrganisation({ name: 'given', owner: 'pete' }))).toBe('forbidden')
    const given = await test.admin.api.createOrganisation({ name: 'given', displayName: 'Given', owner: 'pete' })
    expect(given).toMatchObject({ name: 'given', displayName: 'Given', role: null, counts: { members: 1 } })
    const { organisations } = await test.api('pete').listOrganisations({})
    expect(organisations).toMatchObject([{ name: 'given', role: 'owner' }])
    const { organisations: all } = await test.admin.api.listOrganisations({ all: true, limit: 100 })
    expect(all.map(({ name }) => name)).toContain('given')
    expect((await test.api('ada').listOrganisations({ all: true })).organisations).toEqual([])
  })

  it('can be created only for a user who can sign in', async () => {
    const { writer } = partsOf(test.registry).database
    await writer.write((trx) => ensureNamespace(trx, 'imported', test.clock.now()))
    const given = (owner: string) => test.admin.api.createOrganisation({ name: 'ungiven', owner })
    expect(await codeOf(given('imported'))).toBe('conflict')
    expect(await codeOf(given('not-yet'))).toBe('not_found')
    expect(await codeOf(given(await make()))).toBe('conflict')
    expect(await codeOf(test.api().getOrganisation({ organisation: 'ungiven' }))).toBe('not_found')
  })

  const makePack = (user: string, slug: string, more: { owner?: string; visibility?: 'private' } = {}) =>
    test.api(user).createPack({ name: slug, slug, description: user, skills: [], ...more })

  const refusalOfPublish = async (user: string, owner: string, name: string) =>
    (await refusalOf(test.api(user).publishSkill({ name: `${owner}/${name}`, skillMd: skillMd(name) }))).message

  it('refuse a publish by a user without the right role, and the error names the role', async () => {
    const organisation = await make({ rita: 'reader' })
    await publish(organisation, 'taken')
    for (const user of ['rita', 'pete'])
      for (const name of ['taken', 'fresh']) {
        const message = await refusalOfPublish(user, organisation, name)
        expect(message).toBe(
          `You may not publish ${organisation}/${name}. Publish under ${user}, or ask an owner or admin of ` +
            `${organisation} for the role publisher.`,
        )
      }
    expect(await refusalOfPublish('pete', 'olga', 'own')).toContain('or ask olga for the write role.')
  })

  it('count the skills that the caller may see, and all skills for administrators', async () => {
    const organisation = await make({ rita: 'reader' })
    await publish(organisation, 'open')
    const { publishSkill, putTeam } = test.api('olga')
    for (const [name, visibility, limit] of [
      ['closed', 'private', undefined],
      ['shared', 'private', undefined],
      ['inside', 'internal', undefined],
      ['own', 'internal', organisation],
    ] as const)
      await publishSkill({
        name: `${organisation}/${name}`,
        skillMd: skillMd(name),
        visibility,
        ...(limit !== undefined && { organisation: limit }),
      })
    await putTeam({ organisation, team: 'one', members: ['rita'], skills: [{ name: 'shared', role: 'reader' }] })
    const counts = { members: 2, teams: 1 }
    for (const [api, role, skills] of [
      [test.api('olga'), 'owner', 5],
      [test.api('rita'), 'reader', 4],
      [test.admin.api, null, 5],
      [test.api('pete'), null, 2],
      [test.api(), null, 1],
    ] as const)
      expect(await api.getOrganisation({ organisation })).toMatchObject({ role, counts: { ...counts, skills } })
    const { organisations } = await test.api('rita').listOrganisations({ limit: 100 })
    expect(organisations).toContainEqual(await test.api('rita').getOrganisation({ organisation }))
  })

  describe('a member', () => {
    it('joins only by accepting the invitation, once', async () => {
      const organisation = await make()
      const olga = test.api('olga')
      const invited = { username: 'ada', role: 'publisher', status: 'invited' }
      expect(await olga.putMember({ organisation, username: 'ada', role: 'publisher' })).toEqual(invited)
      expect((await olga.listMembers({ organisation })).members).toEqual([
        invited,
        { username: 'olga', role: 'owner', status: 'accepted' },
      ])
      const { publishSkill, acceptMembership, listMemberInvitations } = test.api('ada')
      const early = publishSkill({ name: `${organisation}/early`, skillMd: skillMd('early') })
      expect(await codeOf(early)).toBe('forbidden')
      expect((await listMemberInvitations()).invitations).toMatchObject([{ organisation, role: 'publisher' }])
      expect(await acceptMembership({ organisation })).toEqual({ ...invited, status: 'accepted' })
      expect(await codeOf(acceptMembership({ organisation }))).toBe('not_found')
      await publishSkill({ name: `${organisation}/early`, skillMd: skillMd('early') })
    })

    it('can decline or leave, and loses the roles of all teams on leaving or removal', async () => {
      const organisation = await make({ ada: 'reader' })
      const [olga, ada] = [test.api('olga'), test.api('ada')]
      await publish(organisation, 'tool')
      const skills = [{ name: 'tool', role: 'publisher' as const }]
      await olga.putTeam({ organisation, team: 'tools', members: ['ada'], skills })
      const next = () => ada.publishSkill({ name: `${organisation}/tool`, skillMd: skillMd('tool', { body: 'Next.' }) })
      expect((await next()).version.version).toBe('1.0.1')
      await ada.deleteMember({ organisation, username: 'ada' })
      expect(await codeOf(next())).toBe('forbidden')
      expect((await olga.listTeams({ organisation })).teams).toEqual([{ name: 'tools', members: [], skills }])
      await olga.putMember({ organisation, username: 'ada', role: 'reader' })
      await ada.deleteMember({ organisation, username: 'ada' })
      expect(await codeOf(ada.acceptMembership({ organisation }))).toBe('not_found')
      expect(await codeOf(olga.deleteMember({ organisation, username: 'ada' }))).toBe('not_found')
    })

    it('who is the last owner can neither leave nor step down', async () => {
      const organisation = await make({ ada: 'admin' })
      const olga = test.api('olga')
      expect(await codeOf(olga.deleteMember({ organisation, username: 'olga' }))).toBe('conflict')
      expect(await codeOf(olga.putMember({ organisation, username: 'olga', role: 'admin' }))).toBe('conflict')
      expect(await codeOf(test.api('ada').deleteMember({ organisation, username: 'olga' }))).toBe('forbidden')
      await olga.putMember({ organisation, username: 'ada', role: 'owner' })
      await olga.deleteMember({ organisation, username: 'olga' })
      expect((await test.api('ada').getOrganisation({ organisation })).role).toBe('owner')
    })

    it('must be a user, not an organisation', async () => {
      const organisation = await make()
      const other = await make()
      const { putMember } = test.api('olga')
      expect(await codeOf(putMember({ organisation, username: other, role: 'reader' }))).toBe('conflict')
      expect(await codeOf(putMember({ organisation, username: 'not-yet', role: 'reader' }))).toBe('not_found')
    })
  })

  describe('a team', () => {
    it('gives its members a role on the skills of the team only', async () => {
      const organisation = await make({ rita: 'reader' })
      const [olga, rita] = [test.api('olga'), test.api('rita')]
      for (const name of ['one', 'two']) {
        await publish(organisation, name)
        await olga.publishSkill({ name: `${organisation}/${name}`, visibility: 'private' })
      }
      const listed = async () =>
        (await rita.searchSkills({ owner: organisation })).skills.map(({ name }) => name.split('/').at(-1))
      expect(await listed()).toEqual([])
      const skills = [{ name: 'one', role: 'reader' as const }]
      await olga.putTeam({ organisation, team: 'ones', members: ['rita'], skills })
      expect(await listed()).toEqual(['one'])
      const write = () => rita.publishSkill({ name: `${organisation}/one`, skillMd: skillMd('one', { body: 'B.' }) })
      expect(await codeOf(write())).toBe('forbidden')
      await olga.putTeam({ organisation, team: 'ones', skills: [{ name: 'one', role: 'publisher' }] })
      await write()
      expect(await codeOf(rita.getSkill({ name: `${organisation}/two` }))).toBe('not_found')
      await olga.putTeam({ organisation, team: 'ones', members: [] })
      expect(await listed()).toEqual([])
      await olga.putTeam({ organisation, team: 'ones', members: ['rita'] })
      expect(await listed()).toEqual(['one'])
      await olga.deleteTeam({ organisation, team: 'ones' })
      expect(await listed()).toEqual([])
      expect(await codeOf(olga.deleteTeam({ organisation, team: 'ones' }))).toBe('not_found')
    })

    it('applies the changes of two concurrent requests, and keeps its other members and skills', async () => {
      const organisation = await make({ ada: 'admin', pete: 'reader', rita: 'reader' })
      const [olga, ada] = [test.api('olga'), test.api('ada')]
      for (const name of ['one', 'two', 'three']) await publish(organisation, name)
      const of = { organisation, team: 'shared' }
      await olga.putTeam({ ...of, members: ['olga'], skills: [{ name: 'one', role: 'reader' }] })
      await Promise.all([
        olga.updateTeam({ ...of, add: { members: ['pete'], skills: [{ name: 'two', role: 'reader' }] } }),
        ada.updateTeam({ ...of, add: { members: ['rita'], skills: [{ name: 'three', role: 'admin' }] } }),
      ])
      const skills = [
        { name: 'one', role: 'reader' },
        { name: 'three', role: 'admin' },
        { name: 'two', role: 'reader' },
      ]
      const team = { name: 'shared', members: ['olga', 'pete', 'rita'], skills }
      expect((await olga.listTeams({ organisation })).teams).toEqual([team])
      const [left, right] = await Promise.all([
        olga.updateTeam({ ...of, remove: { members: ['pete'], skills: ['one'] } }),
        ada.updateTeam({
          ...of,
          remove: { members: ['rita', 'ada'] },
          add: { skills: [{ name: 'two', role: 'admin' }] },
        }),
      ])
      expect([left, right]).toContainEqual({
        name: 'shared',
        members: ['olga'],
        skills: [skills[1], { name: 'two', role: 'admin' }],
      })
    })

    it('can be changed only by administrators, and only with members and skills of its organisation', async () => {
      const organisation = await make({ ada: 'reader' })
      const olga = test.api('olga')
      const of = { organisation, team: 'part' }
      expect(await codeOf(olga.updateTeam({ ...of, add: { members: ['olga'] } }))).toBe('not_found')
      const before = await olga.putTeam({ ...of, members: ['olga'] })
      expect(await codeOf(test.api('ada').updateTeam({ ...of, add: { members: ['ada'] } }))).toBe('forbidden')
      expect(await fieldsOf(olga.updateTeam({ ...of, add: { members: ['pete'] } }))).toEqual(['members'])
      const foreign = { skills: [{ name: 'elsewhere', role: 'reader' as const }] }
      expect(await fieldsOf(olga.updateTeam({ ...of, add: { members: ['ada'], ...foreign } }))).toEqual(['skills'])
      expect(await olga.updateTeam({ ...of, remove: { members: ['pete'], skills: ['elsewhere'] } })).toEqual(before)
      expect(await olga.updateTeam(of)).toEqual(before)
    })

    it('keeps roles on skills that are invisible to the node administrator who changes the team', async () => {
      const organisation = await make()
      const olga = test.api('olga')
      await olga.publishSkill({ name: `${organisation}/covert`, skillMd: skillMd('covert'), visibility: 'private' })
      await olga.publishSkill({ name: `${organisation}/gone`, skillMd: skillMd('gone') })
      const skills = [
        { name: 'covert', role: 'admin' as const },
        { name: 'gone', role: 'admin' as const },
      ]
      await olga.putTeam({ organisation, team: 'unseen', skills })
      await olga.deleteSkill({ name: `${organisation}/gone` })
      const add = { members: ['olga'] }
      const shown = await test.admin.api.updateTeam({ organisation, team: 'unseen', add })
      expect(shown).toEqual({ name: 'unseen', members: ['olga'], skills: [] })
      expect((await olga.listTeams({ organisation })).teams).toEqual([{ ...shown, skills: [skills[0]] }])
    })

    it('has only members and skills of its organisation, and is unchanged after a refusal', async () => {
      const organisation = await make({ ada: 'reader' })
      const olga = test.api('olga')
      await publish(organisation, 'tool')
      const skills = [{ name: 'tool', role: 'reader' as const }]
      const team = { organisation, team: 'mixed' }
      const before = await olga.putTeam({ ...team, members: ['ada'], skills })
      expect(await fieldsOf(olga.putTeam({ ...team, members: ['ada', 'pete'], skills: [] }))).toEqual(['members'])
      const foreign = [{ name: 'elsewhere', role: 'reader' as const }]
      expect(await fieldsOf(olga.putTeam({ ...team, members: [], skills: foreign }))).toEqual(['skills'])
      expect((await olga.listTeams({ organisation })).teams).toEqual([before])
    })
  })

  describe('a skill', () => {
    it('moves between users and organisations, and its old names redirect', async () => {
      const organisation = await make({ ada: 'admin', pete: 'publisher' })
      const olga = test.api('olga')
      await olga.publishSkill({ skillMd: skillMd('moving') })
      await olga.transferSkill({ name: 'olga/moving', newOwner: organisation })
      expect((await test.api('ada').listTransfers()).transfers).toMatchObject([{ newOwner: organisation }])
      expect(await codeOf(test.api('pete').acceptTransfer({ name: 'olga/moving' }))).toBe('not_found')
      await test.api('ada').acceptTransfer({ name: 'olga/moving' })
      const name = `${organisation}/moving`
      expect((await test.api().getSkill({ name: 'olga/moving' })).fullName).toBe(name)
      await olga.publishSkill({ name, visibility: 'internal', organisation })
      await test.api('ada').transferSkill({ name, newOwner: 'rita' })
      await test.api('rita').acceptTransfer({ name })
      const details = await test.api('rita').getSkill({ name: 'rita/moving' })
      expect(details).toMatchObject({ fullName: 'rita/moving', visibility: 'private' })
      expect(details.organisation).toBeUndefined()
      expect(await codeOf(test.api('ada').getSkill({ name: 'rita/moving' }))).toBe('not_found')
    })

    it('can be transferred out of the organisation only by administrators, not by a team', async () => {
      const organisation = await make({ ada: 'admin', pete: 'publisher' })
      const name = `${organisation}/kept`
      await test.api('pete').publishSkill({ name, skillMd: skillMd('kept') })
      const skills = [{ name: 'kept', role: 'admin' as const }]
      await test.api('olga').putTeam({ organisation, team: 'release', members: ['pete'], skills })
      const pete = test.api('pete')
      await pete.publishSkill({ name, visibility: 'private' })
      expect(await refusalOf(pete.transferSkill({ name, newOwner: 'pete' }))).toMatchObject({
        code: 'forbidden',
        message: expect.stringContaining(`needs the role owner or admin in ${organisation}`),
      })
      expect((await test.api('ada').transferSkill({ name, newOwner: 'pete' })).newOwner).toBe('pete')
    })

    it('that is internal to its organisation stays internal to it until the owner widens the visibility', async () => {
      const organisation = await make()
      const olga = test.api('olga')
      const name = `${organisation}/inner`
      const limits = { name, visibility: 'internal', organisation } as const
      await olga.publishSkill({ ...limits, skillMd: skillMd('inner') })
      const shown = async () => {
        const { visibility, organisation: to } = await olga.getSkill({ name })
        return [visibility, to]
      }
      expect(await shown()).toEqual(['internal', organisation])
      expect(await codeOf(test.api('pete').getSkill({ name }))).toBe('not_found')
      await olga.publishSkill({ name, visibility: 'internal', description: 'The same readers.' })
      expect(await shown()).toEqual(['internal', organisation])
      const { skills } = await olga.listOwnSkills({ organisation })
      expect(skills).toMatchObject([{ visibility: 'internal', organisation }])
      await olga.publishSkill({ name, organisation: '' })
      expect(await shown()).toEqual(['internal', undefined])
      await test.api('pete').getSkill({ name })
      for (const wrong of [
        { name, organisation: 'elsewhere' },
        { name, organisation, visibility: 'public' as const },
        { name: 'olga/own', organisation, skillMd: skillMd('own') },
      ])
        expect(await fieldsOf(olga.publishSkill(wrong))).toEqual(['organisation'])
    })

    it('that only the organisation sees gets only private forks', async () => {
      const organisation = await make({ rita: 'reader' })
      const limited = { name: `${organisation}/forked`, visibility: 'internal', organisation } as const
      await test.api('olga').publishSkill({ ...limited, skillMd: skillMd('forked') })
      const fork = await test.api('rita').forkSkill({ name: `${organisation}/forked` })
      expect(fork).toMatchObject({ fullName: 'rita/forked', visibility: 'private' })
    })

    it('cannot have an organisation as a collaborator', async () => {
      const organisation = await make()
      await test.api('olga').publishSkill({ skillMd: skillMd('lonely') })
      const put = test.api('olga').putCollaborator({ name: 'olga/lonely', username: organisation, role: 'read' })
      expect(await codeOf(put)).toBe('conflict')
    })
  })

  describe('a pack', () => {
    it('belongs to the organisation, is listed under its name, and stays when the pack’s author leaves', async () => {
      const owner = await make({ ada: 'publisher', rita: 'reader' })
      await publish(owner, 'packed')
      const input = { name: 'Team', slug: `${owner}-team`, description: '', skills: [`${owner}/packed`], owner }
      expect(await test.api('ada').createPack(input)).toMatchObject({ curator: { username: owner }, skillCount: 1 })
      await makePack('ada', `${owner}-inside`, { owner, visibility: 'private' })
      await test.api('ada').deleteMember({ organisation: owner, username: 'ada' })
      expect(await codeOf(test.api('ada').updatePack({ slug: input.slug, name: 'X' }))).toBe('forbidden')
      expect(await codeOf(test.api('ada').getPack({ slug: `${owner}-inside` }))).toBe('not_found')
      const listed = async (user?: string) =>
        (await test.api(user).listPacks({ curator: owner })).packs.map(({ slug }) => slug).toSorted()
      expect(await listed('olga')).toEqual([`${owner}-inside`, `${owner}-team`])
      for (const user of ['rita', 'ada', undefined]) expect(await listed(user)).toEqual([`${owner}-team`])
      expect((await test.api().getUser({ username: owner })).counts.packs).toBe(1)
      await test.api('olga').updatePack({ slug: input.slug, name: 'Ours' })
      expect((await test.api().getPack({ slug: input.slug })).name).toBe('Ours')
    })

    it('cannot be created for another owner without the right role, and the error names the role', async () => {
      const owner = await make({ rita: 'reader' })
      for (const other of [owner, 'olga', 'not-yet', '']) {
        const refused = await refusalOf(makePack('rita', 'foreign', { owner: other }))
        expect(['forbidden', 'invalid_request']).toContain(refused.code)
      }
      const { message } = await refusalOf(makePack('rita', 'foreign', { owner }))
      expect(message).toContain(`ask an owner or admin of ${owner} for the role publisher`)
      expect((await makePack('rita', 'foreign', { owner: 'rita' })).curator.username).toBe('rita')
      await makePack('olga', `${owner}-read`, { owner })
      const change = test.api('rita').updatePack({ slug: `${owner}-read`, name: 'X' })
      expect((await refusalOf(change)).message).toContain(
        'Your role is reader; this needs owner or admin or publisher.',
      )
      expect(await codeOf(test.admin.api.updatePack({ slug: `${owner}-read`, name: 'X' }))).toBe('forbidden')
    })

    it('that is private reserves its slug only for the members who may see the pack', async () => {
      const owner = await make({ ada: 'publisher' })
      const slug = `${owner}-covert`
      await makePack('ada', slug, { owner, visibility: 'private' })
      expect(await codeOf(makePack('olga', slug))).toBe('name_taken')
      expect(await codeOf(makePack('olga', slug, { visibility: 'private' }))).toBe('name_taken')
      expect(await codeOf(test.api('pete').deletePack({ slug }))).toBe('not_found')
      await makePack('pete', slug)
      const read = async (user?: string) => (await test.api(user).getPack({ slug })).description
      expect(await read()).toBe('pete')
      // The slug of the members was taken first: what others publish later does not replace it for them.
      for (const user of ['ada', 'olga']) expect(await read(user)).toBe('ada')
      expect(await codeOf(test.api('olga').updatePack({ slug, visibility: 'public' }))).toBe('name_taken')
      // An organisation does not hide a pack that its members knew before.
      expect(
        await codeOf(makePack('pete', slug, { owner: await make({ pete: 'owner' }), visibility: 'private' })),
      ).toBe('name_taken')
      await test.api('olga').deletePack({ slug })
      expect(await read('ada')).toBe('pete')
    })
  })

  it('that own packs cannot be deleted', async () => {
    const organisation = await make()
    const olga = test.api('olga')
    await olga.createPack({
      name: 'Last',
      slug: `${organisation}-last`,
      description: '',
      skills: [],
      owner: organisation,
    })
    const { message } = await refusalOf(olga.deleteOrganisation({ organisation }))
    expect(message).toContain('skills (0), packs (1)')
    await olga.deletePack({ slug: `${organisation}-last` })
    await olga.deleteOrganisation({ organisation })
  })

  it('that own skills cannot be deleted, and the name of a deleted organisation stays reserved', async () => {
    const organisation = await make({ ada: 'admin' })
    const olga = test.api('olga')
    await publish(organisation, 'last')
    expect(await codeOf(test.api('ada').deleteOrganisation({ organisation }))).toBe('forbidden')
    const { message } = await refusalOf(olga.deleteOrganisation({ organisation }))
    expect(message).toContain('skills (1)')
    await olga.deleteSkill({ name: `${organisation}/last` })
    await olga.deleteOrganisation({ organisation })
    expect(await codeOf(olga.getOrganisation({ organisation }))).toBe('not_found')
    expect(await codeOf(olga.createOrganisation({ name: organisation }))).toBe('name_taken')
    expect(await codeOf(test.makeUser(organisation))).toBe('name_taken')
    expect(await codeOf(publish(organisation, 'late'))).toBe('forbidden')
  })

  it('have an audit entry for each change', async () => {
    const organisation = await make({ ada: 'reader' })
    await test.api('olga').putTeam({ organisation, team: 'all', members: ['ada'] })
    await test.api('olga').deleteMember({ organisation, username: 'ada' })
    const { entries } = await test.admin.api.listAudit({ limit: 100 })
    const actionsOf = entries.filter(({ subject }) => subject === organisation).map(({ action }) => action)
    expect(actionsOf.toReversed()).toEqual([
      'organisation.create',
      'organisation.member.put',
      'organisation.member.accept',
      'organisation.team.put',
      'organisation.member.delete',
    ])
  })
})

describeDatabases('lists of organisations and teams', (open) => {
  it('need the same number of queries for many rows as for a single row', async () => {
    const test = await open()
    for (const name of ['olga', 'rita']) await test.makeUser(name)
    const olga = test.api('olga')
    for (const organisation of ['first', 'second', 'third']) {
      await makeOrganisation(test, organisation, { olga: 'owner', rita: 'reader' })
      for (const name of ['one', 'two', 'three']) {
        await olga.publishSkill({ name: `${organisation}/${name}`, skillMd: skillMd(name), visibility: 'private' })
        const skills = [{ name, role: 'reader' as const }]
        await olga.putTeam({ organisation, team: name, members: ['olga', 'rita'], skills })
      }
    }
    const { counted, count } = countQueries(test.registry)
    const api = localApi(counted, await test.registry.getCaller('rita'))
    const countOf = async (call: () => Promise<unknown>) => {
      const before = count()
      await call()
      return count() - before
    }
    const { listOrganisations, listTeams } = api
    expect((await listOrganisations({})).organisations.map(({ counts }) => counts)).toEqual(
      Array.from({ length: 3 }, () => ({ members: 2, teams: 3, skills: 3 })),
    )
    expect(await countOf(() => listOrganisations({}))).toBe(await countOf(() => listOrganisations({ limit: 1 })))
    const { teams } = await listTeams({ organisation: 'first' })
    expect(teams).toEqual(
      ['one', 'three', 'two'].map((name) => ({ name, members: ['olga', 'rita'], skills: [{ name, role: 'reader' }] })),
    )
    const all = await countOf(() => listTeams({ organisation: 'first' }))
    expect(all).toBe(await countOf(() => listTeams({ organisation: 'first', limit: 1 })))
  })
})

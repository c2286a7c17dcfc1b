import { limits, RegistryError, type Team } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { changeOrganisation, getOrganisation, requireMemberRight } from '../../accounts/organisations.ts'
import { findTeam, insertTeam, removeTeam, replaceTeamMembers, type TeamRow } from '../../accounts/teams.ts'
import type { Caller } from '../../kernel/caller.ts'
import { invalidField } from '../../kernel/field-errors.ts'
import type { Input, Operation } from '../../kernel/operation-input.ts'
import { recordAudit } from '../../log/audit.ts'
import { isInList } from '../../storage/list-query.ts'
import { readPage } from '../../storage/read-page.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { Tables, UserRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import { keepSeen, readReaders } from '../../visibility/decisions.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { refreshSkill } from '../skills/refresh-skill.ts'

type TeamSkill = NonNullable<Input<'putTeam'>['skills']>[number]

/** GET /organisations/<name>/teams, for members and administrators: the teams, ordered by name. */
export const listTeams: Operation<'listTeams', StorageContext> = async (context, input, caller) => {
  const { read } = context.database
  const row = await getOrganisation(read, input.organisation)
  await requireMemberRight(read, row, caller, 'read')
  const all = read.selectFrom('teams').where('organisation_id', '=', row.id)
  const { rows, paging } = await readPage(all, all.selectAll().orderBy('name'), input)
  return { teams: await showTeams(context, read, rows, caller), ...paging }
}

/** PUT /organisations/<name>/teams/<team>: saves a team. Accepts only members and skills of the organisation. */
export const putTeam: Operation<'putTeam', CatalogueContext> = async (context, input, caller) => {
  const { organisation, team: name, members, skills } = input
  return changeOrganisation(context, { organisation, right: 'administer' }, caller, async (trx, row) => {
    const team = (await findTeam(trx, row.id, name)) ?? (await insertTeam(context, trx, row, name))
    return saveTeam(context, trx, { row, team, members, skills, data: { members, skills } }, caller)
  })
}

/**
 * PATCH /organisations/<name>/teams/<team>: adds and removes members and skills. Other members and skills stay,
 * including those that another caller adds at the same time, and skills that the caller does not see.
 */
export const updateTeam: Operation<'updateTeam', CatalogueContext> = async (context, input, caller) => {
  const { organisation, team: name, add = {}, remove = {} } = input
  return changeOrganisation(context, { organisation, right: 'administer' }, caller, async (trx, row) => {
    const team = await getTeam(trx, row, name)
    const members = new Set(await readMemberNames(trx, team))
    remove.members?.forEach((one) => members.delete(one))
    add.members?.forEach((one) => members.add(one))
    const skills = new Map(await readSkillRoles(trx, team))
    remove.skills?.forEach((one) => skills.delete(one))
    add.skills?.forEach((one) => skills.set(one.name, one.role))
    for (const [field, { size }, max] of [
      ['members', members, limits.teamMembersMax],
      ['skills', skills, limits.teamSkillsMax],
    ] as const)
      if (size > max) throw invalidField('add', `would give the team ${size} ${field}; at most ${max} are allowed`)
    const change = { members: [...members], skills: Array.from(skills, ([skill, role]) => ({ name: skill, role })) }
    return saveTeam(context, trx, { row, team, ...change, data: { add, remove } }, caller)
  })
}

/** Replaces the members of a team if `members` is given, and its skills if `skills` is given. */
async function saveTeam(
  context: CatalogueContext,
  trx: WriteTransaction,
  saved: {
    row: UserRow
    team: TeamRow
    members: readonly string[] | undefined
    skills: readonly TeamSkill[] | undefined
    data: object
  },
  caller: Caller,
): Promise<Team> {
  const { row, team, members, skills } = saved
  if (members) await replaceTeamMembers(trx, row, team.id, members, caller)
  if (skills) await replaceSkills(context, trx, row, team.id, skills)
  const data = { team: team.name, ...saved.data }
  const at = context.clock.now()
  await recordAudit(trx, { caller, action: 'organisation.team.put', subject: row.username, at, data })
  return (await showTeams(context, trx, [team], caller))[0]!
}

async function getTeam(trx: WriteTransaction, { id, username }: UserRow, name: string): Promise<TeamRow> {
  const team = await findTeam(trx, id, name)
  if (!team) throw new RegistryError('not_found', `${username} has no team '${name}'.`)
  return team
}

async function readMemberNames(trx: WriteTransaction, { id }: TeamRow): Promise<string[]> {
  const members = trx.selectFrom('team_members').innerJoin('users', 'users.id', 'team_members.user_id')
  const rows = await members.select('users.username').where('team_id', '=', id).execute()
  return rows.map(({ username }) => username)
}

async function readSkillRoles(
  trx: WriteTransaction,
  { id }: TeamRow,
): Promise<(readonly [string, TeamSkill['role']])[]> {
  const skills = trx.selectFrom('team_skills').innerJoin('skills', 'skills.id', 'team_skills.skill_id')
  const rows = await skills
    .select(['skills.name', 'team_skills.role'])
    .where('team_id', '=', id)
    .where('skills.state', '!=', 'withdrawn')
    .execute()
  return rows.map(({ name, role }) => [name, role])
}

/** DELETE /organisations/<name>/teams/<team>. Throws `conflict` if the identity provider would add a member again. */
export const deleteTeam: Operation<'deleteTeam', CatalogueContext> = async (context, input, caller) => {
  const { organisation, team: name } = input
  await changeOrganisation(context, { organisation, right: 'administer' }, caller, async (trx, row) => {
    const team = await getTeam(trx, row, name)
    await replaceTeamMembers(trx, row, team.id, [], caller)
    await replaceSkills(context, trx, row, team.id, [])
    await removeTeam(trx, team)
    const at = context.clock.now()
    const data = { team: name }
    await recordAudit(trx, { caller, action: 'organisation.team.delete', subject: row.username, at, data })
  })
}

/** Replaces the skills of a team. Refreshes added and removed skills: the search index contains who may read them. */
async function replaceSkills(
  context: CatalogueContext,
  trx: WriteTransaction,
  { id, username }: UserRow,
  teamId: string,
  wanted: readonly TeamSkill[],
): Promise<void> {
  const { dialect } = context.database
  const names = wanted.map(({ name }) => `${username}/${name}`)
  const ofTeam = trx.selectFrom('team_skills').select('skill_id').where('team_id', '=', teamId)
  const owned = await trx
    .selectFrom('skills')
    .leftJoin('team_skills', (join) => join.onRef('skill_id', '=', 'skills.id').on('team_id', '=', teamId))
    .selectAll('skills')
    .select('team_skills.role')
    .where('skills.owner_id', '=', id)
    .where('skills.state', '!=', 'withdrawn')
    .where((eb) => eb.or([eb('skills.id', 'in', ofTeam), isInList(dialect, 'skills.full_name', names)]))
    .execute()
  const missing = wanted.find(({ name }) => !owned.some((skill) => skill.name === name))
  if (missing) throw invalidField('skills', `has '${missing.name}', which is no skill of ${username}`)
  const at = context.clock.now()
  for (const { role: before, ...skill } of owned) {
    const role = wanted.findLast(({ name }) => name === skill.name)?.role ?? null
    if (role === before) continue
    const readersBefore = await readReaders(trx, skill)
    await trx.deleteFrom('team_skills').where('skill_id', '=', skill.id).where('team_id', '=', teamId).execute()
    if (role !== null)
      await trx.insertInto('team_skills').values({ skill_id: skill.id, team_id: teamId, role }).execute()
    await refreshSkill(context, trx, { skillId: skill.id, before: skill, readersBefore, cause: { type: 'skill' }, at })
  }
}

async function showTeams(context: StorageContext, db: Kysely<Tables>, teams: readonly TeamRow[], caller: Caller) {
  if (teams.length === 0) return []
  const ids = teams.map(({ id }) => id)
  const members = await db
    .selectFrom('team_members')
    .innerJoin('users', 'users.id', 'team_members.user_id')
    .select(['team_id', 'users.username'])
    .where('team_id', 'in', ids)
    .orderBy('users.username')
    .execute()
  const skills = await db
    .selectFrom('team_skills')
    .innerJoin('skills', 'skills.id', 'team_skills.skill_id')
    .select(['skills.id', 'skills.owner_id', 'skills.visibility', 'skills.state', 'skills.full_name', 'skills.name'])
    .select(['team_skills.team_id', 'team_skills.role'])
    .where('team_id', 'in', ids)
    .orderBy('skills.name')
    .execute()
  const inside = { ...context, database: { ...context.database, read: db } }
  const seen: typeof skills = []
  for (let at = 0; at < skills.length; at += limits.teamSkillsMax)
    seen.push(...(await keepSeen(inside, skills.slice(at, at + limits.teamSkillsMax), caller)))
  const membersOf = Map.groupBy(members, ({ team_id }) => team_id)
  const skillsOf = Map.groupBy(seen, ({ team_id }) => team_id)
  return teams.map((team) => ({
    name: team.name,
    members: (membersOf.get(team.id) ?? []).map(({ username }) => username),
    skills: (skillsOf.get(team.id) ?? []).map(({ name, role }) => ({ name, role })),
  }))
}

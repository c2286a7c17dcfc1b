import { type OwnSkill, RegistryError, toTimestamp } from '@skillstead/protocol'
import { sql, type SqlBool } from 'kysely'
import type { StorageContext } from '../../storage/storage-context.ts'
import { type Caller, requireAccount } from '../../kernel/caller.ts'
import type { Input, Operation } from '../../kernel/operation-input.ts'
import { appendChange } from '../../log/append-change.ts'
import { readPage } from '../../storage/read-page.ts'
import { addRow, hasRow, removeRows } from '../../storage/table-rows.ts'
import type { SkillRow } from '../../storage/tables.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { findOwnOrganisation } from '../../accounts/organisations.ts'
import { selectDependents } from '../requires/requirement-rows.ts'
import { getSkill, getSkillNow } from './find-skill.ts'
import { toNamedItems } from '../versions/shown-names.ts'
import { itemColumns, toPublicName, toPublicVisibility, toSkillItem } from '../versions/skill-document.ts'
import { isListedFor } from '../../visibility/conditions.ts'

const ownColumns = [...itemColumns, 'visibility', 'state', 'moderation', 'updated_at'] as const

/**
 * GET /users/me/skills: all skills of the caller, or of an organisation whose private skills the caller sees, that are
 * not deleted, last changed first.
 */
export const listOwnSkills: Operation<'listOwnSkills', StorageContext> = async (context, input, caller) => {
  const { userId } = requireAccount(caller)
  const { organisation } = input
  const owner =
    organisation === undefined ? { id: userId } : await getInsidersOrganisation(context, organisation, caller)
  const own = context.database.read
    .selectFrom('skills')
    .where('owner_id', '=', owner.id)
    .where('state', '!=', 'withdrawn')
    .where('stub', '=', 0)
    .$if(input.moderated, (select) =>
      select.where((eb) => eb.or([eb('state', 'in', ['hidden', 'taken_down']), eb('moderation', '=', 'flagged')])),
    )
  const sorted = own.select(ownColumns).select(isAnyRecalled).orderBy('updated_at', 'desc').orderBy('full_name')
  const { rows, paging } = await readPage(own, sorted, input)
  return { skills: rows.map(toOwnSkill), ...paging }
}

async function getInsidersOrganisation({ database }: StorageContext, name: string, caller: Caller) {
  const found = await findOwnOrganisation(database.read, name, caller, 'readPrivate')
  if (found) return found
  throw new RegistryError('forbidden', `Only members of ${name} with a role above reader may list all its skills.`)
}

/** Whether a skill has a recalled version. */
const isAnyRecalled = sql<SqlBool>`exists (
  select 1 from versions where versions.skill_id = skills.id and versions.recalled_by is not null)`.as(
  'is_any_recalled',
)

type OwnRow = Pick<SkillRow, (typeof ownColumns)[number]> & { readonly is_any_recalled: SqlBool }

function toOwnSkill(row: OwnRow): OwnSkill {
  return {
    ...toSkillItem(row),
    ...toPublicVisibility(row),
    state: toOwnSkillState(row),
    flagged: row.moderation === 'flagged',
    updatedAt: toTimestamp(row.updated_at),
  }
}

function toOwnSkillState({ state, latest_version, is_any_recalled }: OwnRow): OwnSkill['state'] {
  if (state === 'hidden' || state === 'taken_down') return state
  if (latest_version !== '') return 'published'
  return is_any_recalled ? 'recalled' : 'yanked'
}

/** GET /skills/<name>/star: whether the caller starred the skill. */
export const showStar: Operation<'getStar', StorageContext> = async (context, input, caller) => {
  const { userId } = requireAccount(caller)
  const { id, stars } = await getSkill(context, input.name, caller)
  return { starred: await hasRow(context.database.read, 'stars', { skill_id: id, user_id: userId }), stars }
}

/** GET /stars: starred skills that the caller may still see, newest star first. */
export const listStars: Operation<'listStars', StorageContext> = async (context, input, caller) => {
  const { userId } = requireAccount(caller)
  const starred = context.database.read
    .selectFrom('stars')
    .innerJoin('skills', 'skills.id', 'stars.skill_id')
    .where('stars.user_id', '=', userId)
    .where(isListedFor(caller))
  const sorted = starred
    .select(itemColumns.map((column) => `skills.${column}` as const))
    .orderBy('stars.created_at', 'desc')
    .orderBy('skills.full_name')
  const { rows, paging } = await readPage(starred, sorted, input)
  return { skills: await toNamedItems(context, rows, caller), ...paging }
}

/** GET /skills/<name>/forks: the forks that the caller may see, newest first. */
export const listForks: Operation<'listForks', StorageContext> = async (context, input, caller) => {
  const { id, full_name } = await getSkill(context, input.name, caller)
  const db = context.database.read
  // A fork may store a former name of its source.
  const earlier = await db.selectFrom('aliases').select('full_name').where('skill_id', '=', id).execute()
  const names = [full_name, ...earlier.map((alias) => alias.full_name)]
  const forks = db.selectFrom('skills').where('forked_from', 'in', names).where(isListedFor(caller))
  const sorted = forks.select(itemColumns).orderBy('created_at', 'desc').orderBy('id', 'desc')
  const { rows, paging } = await readPage(forks, sorted, input)
  return { skills: await toNamedItems(context, rows, caller), ...paging }
}

/** GET /skills/<name>/dependents: the skills that require the skill and that the caller may see, by name. */
export const listDependents: Operation<'listDependents', StorageContext> = async (context, input, caller) => {
  const { id } = await getSkill(context, input.name, caller)
  const dependents = selectDependents(context.database.read, id).where(isListedFor(caller))
  const sorted = dependents
    .select(itemColumns.map((column) => `skills.${column}` as const))
    .select('requirements.range')
    .orderBy('skills.full_name')
  const { rows, paging } = await readPage(dependents, sorted, input)
  const items = await toNamedItems(context, rows, caller)
  return { skills: items.map((item, i) => ({ ...item, range: rows[i]!.range })), ...paging }
}

/** PUT and DELETE /skills/<name>/star: sets or removes the caller's star. Idempotent. */
export async function setStarred(
  context: CatalogueContext,
  input: Input<'starSkill'>,
  starred: boolean,
  caller: Caller,
) {
  const { userId, username } = requireAccount(caller)
  const found = await getSkill(context, input.name, caller)
  const stars = await context.database.writer.write(async (trx) => {
    const skill = await getSkillNow(context, trx, found, caller)
    const at = context.clock.now()
    const mine = { skill_id: skill.id, user_id: userId }
    const isChanged = starred
      ? await addRow(trx, 'stars', { ...mine, created_at: at })
      : await removeRows(trx, 'stars', mine)
    const step = !isChanged ? 0 : starred ? 1 : -1
    const row = await trx
      .updateTable('skills')
      .set((eb) => ({ stars: eb('stars', '+', step) }))
      .where('id', '=', skill.id)
      .returning('stars')
      .executeTakeFirstOrThrow()
    if (step === 0) return row.stars
    await appendChange(trx, { kind: 'counters', subject: skill.id, at, entries: [] })
    await context.upstreamQueue.queueOpinion(trx, { kind: 'star', skill, caller, payload: { starred } })
    // An owner's star on their own skill is shown but earns no reputation.
    if (skill.owner_id !== userId) await context.reputation.creditSkill(trx, skill.id, { stars: step }, at)
    if (starred) {
      await context.events.emit(trx, {
        event: 'skill.starred',
        ownerId: skill.owner_id,
        skill,
        data: () => ({
          skill: { id: skill.id, name: toPublicName(skill), fullName: skill.full_name },
          user: { id: userId, username },
          starCount: row.stars,
        }),
      })
    }
    return row.stars
  })
  return { starred, stars }
}

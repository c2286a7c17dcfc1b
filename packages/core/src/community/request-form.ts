import { RegistryError, type SkillRequest, toTimestamp } from '@skillstead/protocol'
import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { Caller } from '../kernel/caller.ts'
import type { CommunityContext } from './community-context.ts'
import { keepSeen } from '../catalogue/visibility.ts'
import type { RequestRow } from '../storage/rows-community.ts'
import type { Tables } from '../storage/tables.ts'

/** A request with its author's name; null for a guest. */
export interface NamedRequest extends RequestRow {
  readonly username: string | null
}

/** All requests, as a query to filter. */
export function selectRequests(db: Kysely<Tables>): SelectQueryBuilder<Tables, 'requests' | 'users', NamedRequest> {
  return db
    .selectFrom('requests')
    .leftJoin('users', 'users.id', 'requests.requester_id')
    .selectAll('requests')
    .select('users.username')
}

/** The request with an id; throws `not_found`. */
export async function getRequestRow(db: Kysely<Tables>, id: string): Promise<NamedRequest> {
  const row = await selectRequests(db).where('requests.id', '=', id).executeTakeFirst()
  if (!row) throw new RegistryError('not_found', 'There is no request with this id.')
  return row
}

/** Requests as this caller may see them: the skill that fulfils one is named only to callers who may see it. */
export async function showRequests(
  context: CommunityContext,
  rows: readonly NamedRequest[],
  caller: Caller,
): Promise<SkillRequest[]> {
  const names = await readFullNames(context, rows, caller)
  return rows.map((row) => ({
    id: row.id,
    title: row.title,
    description: row.description,
    status: row.status,
    votes: row.votes,
    requester: row.username === null ? null : { username: row.username },
    fulfilledBy: (row.fulfilled_by !== null && names.get(row.fulfilled_by)) || null,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }))
}

/** The request with an id as this caller may see it; throws `not_found`. */
export async function showRequest(context: CommunityContext, id: string, caller: Caller): Promise<SkillRequest> {
  const row = await getRequestRow(context.database.read, id)
  return (await showRequests(context, [row], caller))[0]!
}

async function readFullNames(context: CommunityContext, rows: readonly RequestRow[], caller: Caller) {
  const ids = rows.map((row) => row.fulfilled_by).filter((id) => id !== null)
  if (ids.length === 0) return new Map<string, string>()
  const skills = await context.database.read
    .selectFrom('skills')
    .select(['id', 'owner_id', 'visibility', 'state', 'full_name'])
    .where('id', 'in', ids)
    .execute()
  return new Map((await keepSeen(context, skills, caller)).map((skill) => [skill.id, skill.full_name]))
}

import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { callerId, type Caller } from '../kernel/caller.ts'

/** Whether a row of `skills` is in the lists of a caller: see `visibility.ts` for the rule about one skill. */
export function isListedFor(caller: Caller): RawBuilder<SqlBool> {
  return sql`(skills.state = 'live' and skills.latest_version <> '' and skills.stub = 0 and ${isOpenTo(callerId(caller))})`
}

function isOpenTo(viewer: string | null): RawBuilder<SqlBool> {
  if (viewer === null) return sql`skills.visibility = 'public'`
  return sql`(skills.visibility in ('public', 'internal') or skills.owner_id = ${viewer} or exists (
    select 1 from collaborators where collaborators.skill_id = skills.id and collaborators.user_id = ${viewer}))`
}

import { sql } from 'kysely'
import type { UserCaller } from '../kernel/caller.ts'
import type { Database } from '../storage/database.ts'
import { isItemSeenBy } from '../visibility/quarantine-conditions.ts'
import { selectOrganisationsWith } from '../visibility/rights.ts'

/**
 * Counts what a user can do something about, in one statement: invitations, offered transfers, quarantined versions,
 * versions to review, moderated skills and failing webhooks. The inbox of the dashboard lists them.
 */
export async function countNotices({ read }: Pick<Database, 'read'>, caller: UserCaller): Promise<number> {
  const { userId } = caller
  const items = read
    .selectFrom('quarantine_items')
    .select((eb) => eb.fn.countAll().as('items'))
    // Administrators have a page for what only they decide.
    .where(isItemSeenBy({ ...caller, role: 'user' }))
  const { rows } = await sql<{ notices: number }>`select
    (select count(*) from invitations join skills on skills.id = invitations.skill_id
      where invitations.user_id = ${userId} and skills.state = 'live')
    + (select count(*) from member_invitations where user_id = ${userId})
    + (select count(*) from transfers where new_owner_id = ${userId} or new_owner_id in (${selectOrganisationsWith('manage', userId)}))
    + (${items})
    + (select count(*) from skills join versions on versions.skill_id = skills.id
      join quarantined_versions on quarantined_versions.version_id = versions.id
      where (skills.owner_id = ${userId} or skills.owner_id in (${selectOrganisationsWith('review', userId)}))
      and skills.state in ('live', 'hidden'))
    + (select count(*) from skills where owner_id = ${userId} and stub = 0
      and (state in ('hidden', 'taken_down') or (state <> 'withdrawn' and moderation = 'flagged')))
    + (select count(*) from webhooks where user_id = ${userId} and active = 1 and 'failed' =
      (select state from outbox where partition = webhooks.id order by outbox.id desc limit 1)) as notices`.execute(
    read,
  )
  return rows[0]!.notices
}

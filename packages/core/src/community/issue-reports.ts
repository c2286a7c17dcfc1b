import { type Issue, toTimestamp } from '@skillstead/protocol'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { CommunityContext } from './community-context.ts'
import { newId } from '../kernel/ids.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import { getSkill, getSkillNow } from '../catalogue/find-skill.ts'
import { toName } from '../catalogue/skill-document.ts'
import type { IssueRow } from '../storage/rows-community.ts'

/** GET /skills/<name>/issues, newest first. */
export async function listIssues(
  context: CommunityContext,
  input: { name: string; page: number; limit: number },
  caller: Caller,
) {
  const { page, limit } = input
  const skill = await getSkill(context, input.name, caller)
  const issues = context.database.read.selectFrom('issues').where('skill_id', '=', skill.id)
  const { count } = await issues.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const rows = await issues
    .innerJoin('users', 'users.id', 'issues.user_id')
    .selectAll('issues')
    .select('username')
    .orderBy('issues.id', 'desc')
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  return { issues: rows.map((row) => toIssue(row, row.username)), ...toPage(count, page, limit) }
}

/** POST /skills/<name>/issues, by any signed-in user who may see the skill. */
export async function createIssue(
  context: CommunityContext,
  input: { name: string; type: IssueRow['type']; title: string; body: string },
  caller: Caller,
): Promise<Issue> {
  const user = requireAccount(caller)
  const found = await getSkill(context, input.name, caller)
  return context.database.writer.write(async (trx) => {
    const skill = await getSkillNow(context, trx, found, caller)
    const row: IssueRow = {
      id: newId(),
      skill_id: skill.id,
      user_id: user.userId,
      type: input.type,
      title: input.title,
      body: input.body,
      created_at: context.clock.now(),
    }
    await trx.insertInto('issues').values(row).execute()
    await context.events.emit(trx, {
      event: 'skill.issue.created',
      ownerId: skill.owner_id,
      skill,
      data: () => ({
        skill: { id: skill.id, name: toName(skill) },
        issue: { id: row.id, type: row.type, title: row.title, body: row.body },
        author: { username: user.username },
      }),
    })
    return toIssue(row, user.username)
  })
}

function toIssue({ id, type, title, body, created_at }: IssueRow, username: string): Issue {
  return { id, type, title, body, author: { username }, createdAt: toTimestamp(created_at) }
}

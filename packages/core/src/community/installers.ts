import { sql } from 'kysely'
import { getSkill } from '../catalogue/skills/find-skill.ts'
import { toDate } from './download-days.ts'
import type { Operation } from '../kernel/operation-input.ts'
import type { Dialect } from '../storage/dialect.ts'
import { toRowTable } from '../storage/list-query.ts'
import { readPage } from '../storage/read-page.ts'
import type { Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { requireRight } from '../visibility/rights.ts'
import type { CommunityContext } from './community-context.ts'

/** The last install of a skill by a user. */
export type Installer = Tables['installers']

/** GET /skills/<name>/installers, for the owner: who installed the skill, latest first. */
export const listInstallers: Operation<'listInstallers', CommunityContext> = async (context, input, caller) => {
  const skill = await getSkill(context, input.name, caller)
  await requireRight(context.database.read, skill, caller, 'manage')
  const all = context.database.read
    .selectFrom('installers')
    .innerJoin('users', 'users.id', 'installers.user_id')
    .where('installers.skill_id', '=', skill.id)
    .where('users.disabled', '=', 0)
  const sorted = all
    .select(['users.username', 'installers.version', 'installers.day'])
    .orderBy('installers.day', 'desc')
    .orderBy('users.username')
  const { rows, paging } = await readPage(all, sorted, input)
  const installers = rows.map(({ day, ...row }) => ({ ...row, day: toDate(day) }))
  return { recorded: context.recordInstallers === true, installers, ...paging }
}

/**
 * Stores the last installs of users. Rows without an enabled user are left out: calls inside the process may have a
 * caller who is no user of the registry.
 */
export async function putInstallers(trx: WriteTransaction, dialect: Dialect, rows: readonly Installer[]) {
  const columns = { skill_id: 'text', user_id: 'text', version: 'text', day: 'whole' } as const
  await sql`insert into installers (skill_id, user_id, version, day)
    select i.skill_id, i.user_id, i.version, i.day from ${toRowTable(dialect, columns, rows)} as i
    join users on users.id = i.user_id where users.disabled = 0
    on conflict (skill_id, user_id) do update set version = excluded.version, day = excluded.day`.execute(trx)
}

/** Deletes the rows of disabled users, and all rows if the operator switched the recording off. */
export async function forgetInstallers({
  database: { read, writer },
  recordInstallers,
}: Pick<CommunityContext, 'database' | 'recordInstallers'>): Promise<void> {
  const isAny = await read.selectFrom('installers').select('day').limit(1).executeTakeFirst()
  if (!isAny) return
  await writer.write((trx) => {
    const disabled = trx.selectFrom('users').select('id').where('disabled', '=', 1)
    const all = trx.deleteFrom('installers')
    return (recordInstallers === false ? all : all.where('user_id', 'in', disabled)).execute()
  })
}

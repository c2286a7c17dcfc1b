import { sql, type RawBuilder } from 'kysely'
import { restoreAdvice, type Check } from './finding.ts'

type Query = RawBuilder<{ subject: string | number | null }>

const rowsMax = 100

/** What belongs together without a foreign key that says so, as queries for what does not. */
const rules: readonly { readonly find: Query; readonly tell: (subject: string) => string }[] = [
  {
    find: sql`select full_name as subject from skills where full_name <> owner || '/' || name`,
    tell: (skill) => `The skill ${skill} has a full name that is not its owner's and its own.`,
  },
  {
    find: sql`select full_name as subject from skills join users on users.id = owner_id where owner <> username`,
    tell: (skill) => `The skill ${skill} names another owner than the user whose it is.`,
  },
  {
    find: sql`select slug as subject from packs join users on users.id = curator_id where curator <> username`,
    tell: (pack) => `The pack ${pack} names another curator than the user whose it is.`,
  },
  {
    find: sql`select full_name as subject from skills where latest_version <> '' and not exists (
      select 1 from versions where skill_id = skills.id and version = latest_version and yanked = 0)`,
    tell: (skill) => `The latest version of ${skill} is not there, or yanked.`,
  },
  {
    find: sql`select full_name as subject from skills where latest_version = '' and exists (
      select 1 from versions where skill_id = skills.id and yanked = 0)`,
    tell: (skill) => `The skill ${skill} has versions, and none of them is its latest.`,
  },
  {
    find: sql`select holders.name as subject from holders join skills on skills.id = skill_id
      where holders.name <> skills.name and origin_kind in ('local', 'import')`,
    tell: (name) => `The short name ${name} is held by a skill of another name.`,
  },
  {
    find: sql`select full_name as subject from skills where origin_kind in ('local', 'import') and visibility = 'public'
      and state = 'live' and stub = 0 and not exists (select 1 from holders where holders.name = skills.name)`,
    tell: (skill) => `${skill} is public, and nobody holds its short name.`,
  },
  {
    find: sql`select full_name as subject from skills where holds_name <> (
      select count(*) from holders where holders.name = skills.name and skill_id = skills.id)`,
    tell: (skill) => `The name of ${skill} in answers contradicts who holds its short name.`,
  },
  {
    find: sql`select full_name as subject from aliases where exists (
      select 1 from skills where skills.full_name = aliases.full_name and skills.id <> aliases.skill_id)`,
    tell: (name) => `The earlier name ${name} of one skill is the name of another one.`,
  },
  {
    find: sql`select change_seq as subject from heads where change_seq < (select coalesce(max(seq), 0) from changes)`,
    tell: (seq) => `There are changes beyond ${seq}, which is said to be the last.`,
  },
  {
    find: sql`select count(*) as subject from heads having count(*) <> 1`,
    tell: (count) => `There are ${count} heads of the changes and the log, and there must be one.`,
  },
]

/** Names, holders of short names, latest versions. */
export const namesCheck: Check = {
  name: 'names',
  async run({ database }, _tell, faults) {
    for (const { find, tell } of rules) {
      const { rows } = await sql<{ subject: string | number }>`${find} limit ${sql.lit(rowsMax)}`.execute(database.read)
      for (const { subject } of rows) faults.add(tell(String(subject)))
    }
    return faults.toOutcome('Names, owners and latest versions belong together.', restoreAdvice)
  },
}

import { offeredVersion, publishedCondition } from '@skillstead/core/internal'
import { sql, type RawBuilder } from 'kysely'
import { restoreAdvice, type Check } from './finding.ts'

type Query = RawBuilder<{ subject: string | number | null }>

const rowsMax = 100

/** Consistency rules that no foreign key enforces, as queries that find violations. */
const rules: readonly { readonly find: Query; readonly toFault: (subject: string) => string }[] = [
  {
    find: sql`select full_name as subject from skills where full_name <> owner || '/' || name`,
    toFault: (skill) => `The skill ${skill} has a full name that differs from its owner and name.`,
  },
  {
    find: sql`select full_name as subject from skills join users on users.id = owner_id where owner <> username`,
    toFault: (skill) => `The skill ${skill} has an owner name that differs from its owner's username.`,
  },
  {
    find: sql`select slug as subject from packs join users on users.id = curator_id where curator <> username`,
    toFault: (pack) => `The pack ${pack} has a curator name that differs from its curator's username.`,
  },
  {
    find: sql`select full_name as subject from skills where latest_version <> '' and not exists (
      select 1 from versions where skill_id = skills.id and version = latest_version and ${offeredVersion})`,
    toFault: (skill) => `The latest version of ${skill} is missing, yanked or recalled.`,
  },
  {
    find: sql`select full_name as subject from skills where latest_version = '' and exists (
      select 1 from versions where skill_id = skills.id and ${offeredVersion})`,
    toFault: (skill) => `The skill ${skill} has versions to offer but no latest version.`,
  },
  {
    find: sql`select holders.name as subject from holders join skills on skills.id = skill_id
      where holders.name <> skills.name and origin_kind in ('local', 'import')`,
    toFault: (name) => `The short name ${name} is held by a skill of another name.`,
  },
  {
    find: sql`select full_name as subject from skills where origin_kind in ('local', 'import')
      and ${publishedCondition} and not exists (select 1 from holders where holders.name = skills.name)`,
    toFault: (skill) => `${skill} is public, but no skill holds its short name.`,
  },
  {
    find: sql`select full_name as subject from skills where holds_name <> (
      select count(*) from holders where holders.name = skills.name and skill_id = skills.id)`,
    toFault: (skill) => `The stored name of ${skill} contradicts the holder of its short name.`,
  },
  {
    find: sql`select full_name as subject from aliases where exists (
      select 1 from skills where skills.full_name = aliases.full_name and skills.id <> aliases.skill_id)`,
    toFault: (name) => `The former name ${name} of one skill is the name of another one.`,
  },
  {
    find: sql`select change_seq as subject from heads where change_seq < (select coalesce(max(seq), 0) from changes)`,
    toFault: (seq) => `There are changes after ${seq}, which is stored as the last.`,
  },
  {
    find: sql`select count(*) as subject from heads having count(*) <> 1`,
    toFault: (count) => `The table of heads has ${count} rows instead of one.`,
  },
]

/** Checks names, holders of short names and latest versions. */
export const namesCheck: Check = {
  name: 'names',
  async run({ database }, _tell, faults) {
    for (const { find, toFault } of rules) {
      const { rows } = await sql<{ subject: string | number }>`${find} limit ${sql.lit(rowsMax)}`.execute(database.read)
      for (const { subject } of rows) faults.add(toFault(String(subject)))
    }
    return faults.toOutcome('Names, owners and latest versions are consistent.', restoreAdvice)
  },
}

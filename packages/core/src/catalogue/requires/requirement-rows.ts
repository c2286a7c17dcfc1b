import type { Requires } from '@skillstead/protocol'
import { expressionBuilder, type Kysely } from 'kysely'
import { appendChange } from '../../log/append-change.ts'
import { compileInsert, compileQuery, type Param } from '../../storage/compiled-query.ts'
import type { SkillRow, Tables } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import { publishedCondition } from '../../visibility/conditions.ts'
import { isPublished } from '../../visibility/decisions.ts'
import { toMeantName } from '../versions/stored-requires.ts'

interface ChangedSkill {
  readonly before: SkillRow | undefined
  readonly skill: SkillRow
  /** Whether requirements of the skill are stored, and whether a requirement of another skill has its name. */
  readonly hasRequirements: boolean
  readonly isNamed: boolean
  /** The requirements of the latest version; undefined if the skill has no version. */
  readonly requires: Requires | undefined
  readonly at: number
}

/**
 * Stores which skills the latest version of a changed skill requires, and counts again the dependents of the skills
 * that the change concerns. Call this function after the change is appended to the log, which serialises writers.
 */
export async function storeRequirements(trx: WriteTransaction, change: ChangedSkill): Promise<void> {
  const { before, skill, requires, hasRequirements, isNamed, at } = change
  const required = skill.state === 'withdrawn' ? [] : (requires?.skills ?? [])
  const wanted = required.map((one) => ({ name: toMeantName(one.name, skill.owner), range: one.range }))
  const stored = hasRequirements ? await selectRequirements(trx, { skillId: skill.id }) : []
  const isSame = toComparableRequirements(stored) === toComparableRequirements(wanted)
  if (!isSame) {
    if (stored.length > 0) await trx.deleteFrom('requirements').where('skill_id', '=', skill.id).execute()
    if (wanted.length > 0) await insertRequirements(trx, ...wanted.map((one) => ({ skill_id: skill.id, ...one })))
  }
  const isMoved = before?.full_name !== skill.full_name
  const isShown = isPublished(skill)
  const concerned = !isSame || isMoved || isShown !== (before !== undefined && isPublished(before))
  const names = concerned ? [...stored, ...wanted].map(({ name }) => name) : []
  if (isMoved && isNamed) names.push(skill.full_name)
  if (names.length > 0) await recountDependents(trx, [...new Set(names)], at)
}

function toComparableRequirements(rows: readonly { readonly name: string; readonly range: string }[]): string {
  return JSON.stringify(rows.map(({ name, range }) => [name, range]).toSorted())
}

/** Counts the dependents of the skills with these full names. */
async function recountDependents(trx: WriteTransaction, names: readonly string[], at: number): Promise<void> {
  const rows = await trx
    .selectFrom('skills as target')
    .select(['target.id', 'target.dependents'])
    .select((eb) =>
      eb
        .selectFrom('requirements')
        .innerJoin('skills', 'skills.id', 'requirements.skill_id')
        .select((of) => of.fn.countAll<number>().as('count'))
        .where(isRequirementOfTarget)
        .where(publishedCondition)
        .as('count'),
    )
    .where((eb) =>
      eb.or([
        eb('target.full_name', 'in', names),
        eb('target.id', 'in', eb.selectFrom('aliases').select('skill_id').where('full_name', 'in', names)),
      ]),
    )
    .execute()
  for (const { id, dependents, count } of rows) {
    if (dependents === Number(count)) continue
    await trx
      .updateTable('skills')
      .set({ dependents: Number(count) })
      .where('id', '=', id)
      .execute()
    await appendChange(trx, { kind: 'counters', subject: id, at, entries: [] })
  }
}

type Aliased = Tables & { target: Tables['skills']; own: Tables['skills'] }
const eb = expressionBuilder<Aliased, 'requirements' | 'skills' | 'target'>()

/** Whether a row of `requirements` has a current or former name of the skill in `target`. An index finds such rows. */
const isRequirementOfTarget = eb.and([
  eb('requirements.skill_id', '!=', eb.ref('target.id')),
  eb(
    'requirements.name',
    'in',
    eb
      .selectFrom('skills as own')
      .select('own.full_name as name')
      .whereRef('own.id', '=', 'target.id')
      .unionAll(eb.selectFrom('aliases').select('full_name as name').whereRef('aliases.skill_id', '=', 'target.id')),
  ),
])

const selectRequirements = compileQuery((db, param: Param<{ skillId: string }>) =>
  db.selectFrom('requirements').select(['name', 'range']).where('skill_id', '=', param('skillId')),
)

/** The rows of `requirements` that name a skill, each with the skill that requires it. */
export function selectDependents(db: Kysely<Tables>, skillId: string) {
  return db
    .selectFrom('requirements')
    .innerJoin('skills', 'skills.id', 'requirements.skill_id')
    .innerJoin('skills as target', (join) => join.on('target.id', '=', skillId))
    .where(isRequirementOfTarget)
}

const insertRequirements = compileInsert('requirements')

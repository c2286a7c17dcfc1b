import type { Requires } from '@skillstead/protocol'
import { expressionBuilder, type Kysely, sql } from 'kysely'
import { appendChange } from '../../log/append-change.ts'
import { compileInsert, compileQuery, type Param } from '../../storage/compiled-query.ts'
import type { SkillRow, Tables } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import { toMeantName } from '../versions/stored-requires.ts'
import { publishedCondition } from '../../visibility/conditions.ts'
import { isPublished } from '../../visibility/decisions.ts'

interface ChangedSkill {
  readonly before: SkillRow | undefined
  readonly skill: SkillRow
  /** Whether requirements of the skill are stored, and whether a requirement of another skill has its name. */
  readonly hasRequirements: boolean
  readonly isNamed: boolean
  /** What the latest version requires; undefined if there is none. */
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
  const wanted = required.map((one) => ({ name: toMeantName(one, skill.owner), range: one.range }))
  const stored = hasRequirements ? await selectRequirements(trx, { skillId: skill.id }) : []
  const isSame = toText(stored) === toText(wanted)
  if (!isSame) {
    if (stored.length > 0) await trx.deleteFrom('requirements').where('skill_id', '=', skill.id).execute()
    if (wanted.length > 0) await insertRequirements(trx, ...wanted.map((one) => ({ skill_id: skill.id, ...one })))
  }
  const isMoved = !before || before.owner_id !== skill.owner_id || before.holds_name !== skill.holds_name
  const isShown = isPublished(skill)
  const concerned = !isSame || isMoved || isShown !== (before !== undefined && isPublished(before))
  const names = concerned ? [...stored, ...wanted].map(({ name }) => name) : []
  // A name without an owner may mean this skill from now on.
  if (isMoved && isNamed) names.push(skill.name, skill.full_name)
  if (names.length > 0) await recountDependents(trx, new Set(names), skill.owner, at)
}

function toText(rows: readonly { readonly name: string; readonly range: string }[]): string {
  return JSON.stringify(rows.map(({ name, range }) => [name, range]).toSorted())
}

/** Counts the dependents of the skills that these names may mean for skills of an owner. */
async function recountDependents(
  trx: WriteTransaction,
  names: ReadonlySet<string>,
  owner: string,
  at: number,
): Promise<void> {
  const short = [...names].filter((name) => !name.includes('/'))
  const full = [...names].filter((name) => name.includes('/'))
  const rows = await trx
    .selectFrom('skills as target')
    .select(['target.id', 'target.dependents'])
    .select((eb) =>
      eb
        .selectFrom('requirements')
        .innerJoin('skills', 'skills.id', 'requirements.skill_id')
        .select((of) => of.fn.countAll<number>().as('count'))
        .where(isNamedLikeTarget)
        .where(isRequirementOfTarget)
        .where(publishedCondition)
        .as('count'),
    )
    .where((eb) =>
      eb.or([
        eb('target.full_name', 'in', [...full, ...short.map((name) => `${owner}/${name}`)]),
        eb(
          'target.id',
          'in',
          eb
            .selectFrom('holders')
            .select('skill_id')
            .where('name', 'in', ['', ...short]),
        ),
        eb(
          'target.id',
          'in',
          eb
            .selectFrom('aliases')
            .select('skill_id')
            .where('full_name', 'in', ['', ...full]),
        ),
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

/** Whether a row of `requirements` has a name of the skill in `target`: a condition that an index finds. */
export const isNamedLikeTarget = eb(
  'requirements.name',
  'in',
  eb
    .selectFrom('skills as own')
    .select('own.name')
    .whereRef('own.id', '=', 'target.id')
    .unionAll(eb.selectFrom('skills as own').select('own.full_name as name').whereRef('own.id', '=', 'target.id'))
    .unionAll(eb.selectFrom('aliases').select('full_name as name').whereRef('aliases.skill_id', '=', 'target.id')),
)

/**
 * Whether a row of `requirements`, of a skill in `skills`, means the skill in `target`. A name without an owner means a
 * skill of the same owner, or else the holder of the short name, unless the holder was first published later: no one may
 * take over a name that an author wrote before anyone held it.
 */
export const isRequirementOfTarget = eb.and([
  eb('requirements.skill_id', '!=', eb.ref('target.id')),
  eb.or([
    eb('requirements.name', '=', eb.ref('target.full_name')),
    eb(
      'requirements.name',
      'in',
      eb.selectFrom('aliases').select('aliases.full_name').whereRef('aliases.skill_id', '=', 'target.id'),
    ),
    eb.and([
      eb('requirements.name', '=', eb.ref('target.name')),
      eb.or([
        eb('skills.owner_id', '=', eb.ref('target.owner_id')),
        eb.and([
          eb('target.holds_name', '=', sql.lit(1)),
          eb(
            'skills.published_at',
            '>=',
            eb
              .selectFrom('versions')
              .select((of) => of.fn.min('versions.published_at').as('first'))
              .whereRef('versions.skill_id', '=', 'target.id'),
          ),
          eb.not(
            eb.exists(
              eb
                .selectFrom('skills as own')
                .select('own.id')
                .where('own.full_name', '=', sql<string>`skills.owner || '/' || requirements.name`),
            ),
          ),
        ]),
      ]),
    ]),
  ]),
])

const selectRequirements = compileQuery((db, param: Param<{ skillId: string }>) =>
  db.selectFrom('requirements').select(['name', 'range']).where('skill_id', '=', param('skillId')),
)
/** A skill that may require the skill with these names and this id, or none. */
export const selectRequirer = compileQuery((db, param: Param<{ id: string; name: string; fullName: string }>) =>
  db
    .selectFrom('requirements')
    .select('skill_id')
    .where((of) =>
      of.or([
        of('name', 'in', [param('name'), param('fullName')]),
        of('name', 'in', of.selectFrom('aliases').select('full_name').where('aliases.skill_id', '=', param('id'))),
      ]),
    )
    .limit(1),
)

/** A page of the skills that require a skill, by id, with the range. */
export function findDependents(db: Kysely<Tables>, skillId: string, page: { after: string; limit: number }) {
  return db
    .selectFrom('requirements')
    .innerJoin('skills', 'skills.id', 'requirements.skill_id')
    .innerJoin('skills as target', (join) => join.on('target.id', '=', skillId))
    .selectAll('skills')
    .select('requirements.range')
    .where(isNamedLikeTarget)
    .where(isRequirementOfTarget)
    .where('skills.state', '!=', 'withdrawn')
    .where('skills.id', '>', page.after)
    .orderBy('skills.id')
    .limit(page.limit)
    .execute()
}
const insertRequirements = compileInsert('requirements')

import { limits, isVersion, toVersionSortKey } from '@skillstead/protocol'
import { parseVersionRange } from '@skillstead/skill-format'
import { sql } from 'kysely'
import type { Caller } from '../../kernel/caller.ts'
import type { Param } from '../../storage/compiled-query.ts'
import { compileListQuery } from '../../storage/list-query.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { readStoredRequires, toMeantName } from '../versions/stored-requires.ts'
import { lookUpWanted } from './look-up.ts'

interface InstalledVersion {
  readonly skillId: string
  readonly version: string
}

/**
 * By place in the list, the first skill that an installed version requires and of which no version in the range is
 * offered. Skills that the caller may not see are left out, and so are all of them beyond the number that a resolution
 * may have.
 */
export async function findWithdrawn(context: StorageContext, installed: readonly InstalledVersion[], caller: Caller) {
  const found = new Map<number, { readonly fullName: string; readonly range: string }>()
  const wanted = installed.flatMap(({ skillId, version }, place) =>
    isVersion(version) ? [[skillId, toVersionSortKey(version), place]] : [],
  )
  const rows = wanted.length > 0 ? await selectRequiring(context.database, { wanted }) : []
  const required = rows.flatMap((row) =>
    readStoredRequires(row).skills.map(({ name, range }) => {
      return { place: Number(row.place), name: toMeantName(name, row.owner), range: parseVersionRange(range) }
    }),
  )
  if (required.length === 0) return found
  const names = [...new Set(required.map(({ name }) => name))].slice(0, limits.resolveSkillsMax)
  const meant = await lookUpWanted(context, names, caller)
  for (const { place, name, range } of required) {
    const skill = meant.get(name)
    if (!skill || !range || found.has(place)) continue
    if (skill.versions.some(({ version, isOffered }) => isOffered && range.includes(version))) continue
    found.set(place, { fullName: skill.fullName, range: range.text })
  }
  return found
}

/** Only versions that require something; the metadata only of those that were stored before the column existed. */
const selectRequiring = compileListQuery((db, param: Param<{ wanted: Iterable<readonly unknown[]> }>, lists) =>
  db
    .selectFrom(lists.table(param('wanted')).as('had'))
    .innerJoin('versions', (join) =>
      join
        .on('versions.skill_id', '=', sql<string>`had.value ->> 0`)
        .on('versions.sort_key', '=', sql<string>`had.value ->> 1`),
    )
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select([sql<number | string>`had.value ->> 2`.as('place'), 'owner', 'requires'])
    .select((eb) => eb.case().when('requires', 'is', null).then(eb.ref('metadata')).else(null).end().as('metadata'))
    .where((eb) => eb.or([eb('requires', 'is', null), eb('requires', '!=', '')])),
)

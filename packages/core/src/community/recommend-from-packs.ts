import { limits } from '@skillstead/protocol'
import { sql } from 'kysely'
import type { CommunityContext } from './community-context.ts'
import { keepListQuery } from '../storage/list-query.ts'
import type { KnownSkill } from './look-up-installs.ts'
import type { Suggestion } from './recommendations.ts'

/** The maximum number of rows read. */
const holdingRowsMax = 2000
const packsMax = 5
const memberRowsMax = packsMax * limits.packSkillsMax

interface Holding {
  readonly pack_id: string
  readonly skill_id: string
  readonly name: string
  readonly slug: string
}

/** A public pack, and the installed skills in it. */
interface Pack {
  readonly id: string
  readonly name: string
  readonly slug: string
  readonly installedIds: string[]
}

/** Other skills of the packs that contain most of the installed ones. */
export async function suggestFromPacks(
  { database }: CommunityContext,
  installed: readonly KnownSkill[],
): Promise<Suggestion[]> {
  const names = new Map(installed.map(({ id, full_name }) => [id, full_name]))
  const packs = toPacks(await selectHoldings(database, names.keys()))
  if (packs.length === 0) return []
  const rows = await selectMembers(
    database,
    packs.map(({ id }) => id),
  )
  const members = Map.groupBy(rows, ({ pack_id }) => pack_id)
  return packs.flatMap(({ id, name, slug, installedIds }) => {
    const all = members.get(id) ?? []
    const partner = installedIds.map((skillId) => names.get(skillId)!).toSorted()[0]!
    const share = Math.min(1, installedIds.length / all.length)
    return all.map(({ skill_id }) => ({
      skillId: skill_id,
      share,
      reason: `In a pack with ${partner}.`,
      pack: { slug, name },
    }))
  })
}

const selectHoldings = keepListQuery<Holding>((db, lists) =>
  db
    .selectFrom('pack_skills')
    .innerJoin('packs', 'packs.id', 'pack_skills.pack_id')
    .select(['pack_id', 'skill_id', 'name', 'slug'])
    .where(lists.has('skill_id'))
    .where(sql<boolean>`packs.visibility = 'public' and packs.state = 'live'`)
    .limit(sql.lit(holdingRowsMax)),
)

const selectMembers = keepListQuery<{ pack_id: string; skill_id: string }>((db, lists) =>
  db
    .selectFrom('pack_skills')
    .select(['pack_id', 'skill_id'])
    .where(lists.has('pack_id'))
    .limit(sql.lit(memberRowsMax)),
)

function toPacks(holdings: readonly Holding[]): Pack[] {
  const packs = new Map<string, Pack>()
  for (const { pack_id, skill_id, name, slug } of holdings) {
    const pack = packs.get(pack_id)
    if (pack) pack.installedIds.push(skill_id)
    else packs.set(pack_id, { id: pack_id, name, slug, installedIds: [skill_id] })
  }
  return [...packs.values()]
    .toSorted((a, b) => b.installedIds.length - a.installedIds.length || (a.slug < b.slug ? -1 : 1))
    .slice(0, packsMax)
}

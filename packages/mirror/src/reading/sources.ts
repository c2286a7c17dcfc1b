import type { Database, CatalogueContext } from '@skillstead/core/internal'

/** The upstream of a mirrored skill, and when a change of the skill was last imported, in milliseconds since 1970. */
interface SkillSource {
  readonly upstream: string
  readonly syncedAt: number
}

/** Finds the upstream of a skill by its name; undefined for local and unknown skills. Cached until a skill changes. */
export interface Sources {
  find(name: string): Promise<SkillSource | undefined>
}

const namesMax = 20_000

export function createSources({ database, changes }: Pick<CatalogueContext, 'database' | 'changes'>): Sources {
  const kept = new Map<string, SkillSource | null>()
  const forget = () => kept.clear()
  changes.follow((batch) => {
    if (batch.some(({ kind }) => kind === 'skill')) forget()
  }, forget)
  return {
    async find(name) {
      const found = kept.get(name)
      if (found !== undefined) return found ?? undefined
      const { position } = changes
      const source = await readSkillSource(database.read, name)
      if (kept.size >= namesMax) kept.clear()
      if (position === changes.position) kept.set(name, source ?? null)
      return source
    },
  }
}

async function readSkillSource(read: Database['read'], name: string): Promise<SkillSource | undefined> {
  const columns = ['origin_kind', 'origin_upstream', 'origin_synced_at', 'created_at'] as const
  const query = name.includes('/')
    ? read.selectFrom('skills').select(columns).where('full_name', '=', name)
    : read
        .selectFrom('holders')
        .innerJoin('skills', 'skills.id', 'holders.skill_id')
        .select(['origin_kind', 'origin_upstream', 'origin_synced_at', 'skills.created_at'])
        .where('holders.name', '=', name)
  const row = await query.executeTakeFirst()
  if (!row || row.origin_kind !== 'mirror' || row.origin_upstream === null) return undefined
  return { upstream: row.origin_upstream, syncedAt: row.origin_synced_at ?? row.created_at }
}

/** The upstreams of mirrored skills by full name. Names of other skills are left out. */
export async function findSourceNames(
  read: Database['read'],
  fullNames: readonly string[],
): Promise<Map<string, string>> {
  if (fullNames.length === 0) return new Map()
  const rows = await read
    .selectFrom('skills')
    .select(['full_name', 'origin_upstream'])
    .where('full_name', 'in', fullNames)
    .where('origin_kind', '=', 'mirror')
    .execute()
  return new Map(rows.map(({ full_name, origin_upstream }) => [full_name, origin_upstream ?? '']))
}

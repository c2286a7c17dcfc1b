import type { Kysely } from 'kysely'
import type { Caller } from '../../kernel/caller.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { SkillRow, Tables } from '../../storage/tables.ts'
import { keepSeen } from '../../visibility/decisions.ts'

/** The maximum length of a chain of forks that is followed. */
const generationsMax = 32

type Kin = Pick<SkillRow, 'id' | 'forked_from'>
const sourceColumns = [
  ...(['id', 'owner_id', 'visibility', 'state', 'full_name', 'forked_from', 'forked_from_version'] as const),
] as const
type Source = Pick<SkillRow, (typeof sourceColumns)[number]>

/** Each skill id with the ids of the skill itself and of its direct and indirect fork sources. */
type Lineage = ReadonlyMap<string, ReadonlySet<string>>

/** Reads which skills some skills were forked from, directly and indirectly. */
export async function readLineage(db: Kysely<Tables>, skills: readonly Kin[]): Promise<Lineage> {
  const sources = await readForkSources(db, skills)
  // A source that no longer exists is identified by its name.
  const climbed = (skill: Kin) => Array.from(climbForks(skill, sources), ({ name, source }) => source?.id ?? name)
  return new Map(skills.map((skill) => [skill.id, new Set([skill.id, ...climbed(skill)])]))
}

/** Whether one skill is a fork of the other, directly or indirectly, or both are forks of a third skill. */
export function isKin(lineage: Lineage, a: string, b: string): boolean {
  return [...(lineage.get(a) ?? [])].some((id) => lineage.get(b)?.has(id))
}

/** The chain of skills that a skill was forked from, nearest first, limited to the skills that the caller may see. */
export async function readForkChain(context: StorageContext, skill: SkillRow, caller: Caller) {
  const { read } = context.database
  const chain = [...climbForks(skill, await readForkSources(read, [skill]))]
  const sources = chain.flatMap(({ source }) => source ?? [])
  const seen = new Set(await keepSeen(context, sources, caller))
  const shown = chain.flatMap(({ source, ...fork }) => (source && seen.has(source) ? [{ ...fork, source }] : []))
  if (shown.length === 0) return []
  const rows = await read
    .selectFrom('versions')
    .select(['skill_id', 'version', 'digest'])
    .where((eb) => eb.or(shown.map(({ source, version }) => eb.and({ skill_id: source.id, version }))))
    .execute()
  return shown.flatMap(({ source, name, version }) => {
    const row = rows.find((one) => one.skill_id === source.id && one.version === version)
    return row ? [{ fullName: name, version, digest: row.digest }] : []
  })
}

/** The fork sources of skills, direct and indirect, by the names that the forks store; two queries per generation. */
async function readForkSources(db: Kysely<Tables>, skills: readonly Kin[]) {
  const sources = new Map<string, Source | undefined>()
  let names = listUnknownSources(skills, sources)
  for (let i = 0; i < generationsMax && names.length > 0; i++) {
    const found = await findForkSources(db, names)
    for (const name of names) sources.set(name, found.get(name))
    names = listUnknownSources([...found.values()], sources)
  }
  return sources
}

function listUnknownSources(skills: readonly Kin[], sources: ReadonlyMap<string, unknown>): string[] {
  const names = new Set(skills.map(({ forked_from }) => forked_from))
  return [...names].filter((name): name is string => name !== null && !sources.has(name))
}

/** Finds skills by their current names or the names they had before a transfer. */
async function findForkSources(db: Kysely<Tables>, names: readonly string[]): Promise<Map<string, Source>> {
  const moved = await db
    .selectFrom('aliases')
    .innerJoin('skills', 'skills.id', 'aliases.skill_id')
    .select(sourceColumns.map((column) => `skills.${column}` as const))
    .select('aliases.full_name as name')
    .where('aliases.full_name', 'in', names)
    .execute()
  const named = await db.selectFrom('skills').select(sourceColumns).where('full_name', 'in', names).execute()
  return new Map([
    ...moved.map((row) => [row.name, row] as const),
    ...named.map((row) => [row.full_name, row] as const),
  ])
}

/** The direct and indirect sources of a fork, nearest first. Stops at a cycle: names can move between skills. */
function* climbForks(skill: Kin & Partial<Source>, sources: ReadonlyMap<string, Source | undefined>) {
  const met = new Set([skill.id])
  for (let at = skill; at.forked_from !== null;) {
    const source = sources.get(at.forked_from)
    if (source && met.has(source.id)) return
    yield { name: at.forked_from, version: at.forked_from_version ?? '', source }
    if (!source) return
    met.add(source.id)
    at = source
  }
}

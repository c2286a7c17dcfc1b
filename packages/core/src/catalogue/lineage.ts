import type { Kysely } from 'kysely'
import type { Tables } from '../storage/tables.ts'
import type { ComparedSkill } from './copy-candidates.ts'

/** The maximum length of a chain of forks that is followed. */
const generationsMax = 32

type Kin = Pick<ComparedSkill, 'id' | 'forked_from'>
/** Skill ids, each with the ids of the skill itself and of its direct and indirect fork sources. */
export type Lineage = ReadonlyMap<string, ReadonlySet<string>>

/** Reads where skills were forked from, with a few queries per generation. */
export async function readLineage(db: Kysely<Tables>, skills: readonly Kin[]): Promise<Lineage> {
  const sources = new Map<string, Kin>()
  let names = listUnknown(skills, sources)
  for (let i = 0; i < generationsMax && names.length > 0; i++) {
    const found = await findSources(db, names)
    for (const name of names) sources.set(name, found.get(name) ?? { id: name, forked_from: null })
    names = listUnknown([...found.values()], sources)
  }
  return new Map(skills.map((skill) => [skill.id, climb(skill, sources)]))
}

/** Whether one skill descends from the other, or both from the same. */
export function isKin(lineage: Lineage, a: string, b: string): boolean {
  const one = lineage.get(a)
  const other = lineage.get(b)
  return one !== undefined && other !== undefined && [...one].some((id) => other.has(id))
}

function listUnknown(skills: readonly Kin[], sources: ReadonlyMap<string, Kin>): string[] {
  const names = new Set(skills.map(({ forked_from }) => forked_from))
  return [...names].filter((name): name is string => name !== null && !sources.has(name))
}

/** Finds skills by their current names or the names they had before a transfer. */
async function findSources(db: Kysely<Tables>, names: readonly string[]): Promise<Map<string, Kin>> {
  const moved = await db
    .selectFrom('aliases')
    .innerJoin('skills', 'skills.id', 'aliases.skill_id')
    .select(['aliases.full_name', 'skills.id', 'skills.forked_from'])
    .where('aliases.full_name', 'in', names)
    .execute()
  const named = await db
    .selectFrom('skills')
    .select(['full_name', 'id', 'forked_from'])
    .where('full_name', 'in', names)
    .execute()
  return new Map([...moved, ...named].map((row) => [row.full_name, row]))
}

function climb(skill: Kin, sources: ReadonlyMap<string, Kin>): Set<string> {
  const ids = new Set<string>()
  let at: Kin | undefined = skill
  while (at && !ids.has(at.id)) {
    ids.add(at.id)
    at = at.forked_from === null ? undefined : sources.get(at.forked_from)
  }
  return ids
}

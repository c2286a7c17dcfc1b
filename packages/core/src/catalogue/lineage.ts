import type { Provenance } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { Caller } from '../kernel/caller.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import type { ComparedSkill } from './copy-candidates.ts'
import { findSource } from './show-details.ts'
import { keepSeen } from './visibility.ts'

/** The maximum length of a chain of forks that is followed. */
const generationsMax = 32

type Kin = Pick<ComparedSkill, 'id' | 'forked_from'>
/** Skill ids, each with the ids of the skill itself and of its direct and indirect fork sources. */
type Lineage = ReadonlyMap<string, ReadonlySet<string>>

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

/** The maximum length of a chain of forks that is shown. */
const chainMax = 32

interface Ancestor {
  readonly source: SkillRow
  readonly fullName: string
  readonly version: string
}

/** The chain of skills that a skill was forked from, nearest first, limited to those that the caller may see. */
export async function readForkChain(
  context: CatalogueContext,
  skill: SkillRow,
  caller: Caller,
): Promise<Provenance['forkChain']> {
  const ancestors = await readAncestors(context, skill)
  const sources = ancestors.map(({ source }) => source)
  const seen = new Set((await keepSeen(context, sources, caller)).map(({ id }) => id))
  const shown = ancestors.filter(({ source }) => seen.has(source.id))
  const digests = await readDigests(context, shown)
  return shown.flatMap(({ source, fullName, version }) => {
    const digest = digests.get(toKey(source.id, version))
    return digest === undefined ? [] : [{ fullName, version, digest }]
  })
}

/** One query per step, since each step names the next. Names can move between skills, so the chain could be a cycle. */
async function readAncestors(context: CatalogueContext, skill: SkillRow): Promise<Ancestor[]> {
  const ancestors: Ancestor[] = []
  const met = new Set([skill.id])
  let at = skill
  while (at.forked_from !== null && ancestors.length < chainMax) {
    const source = await findSource(context.database.read, at.forked_from)
    if (!source || met.has(source.id)) break
    ancestors.push({ source, fullName: at.forked_from, version: at.forked_from_version ?? '' })
    met.add(source.id)
    at = source
  }
  return ancestors
}

async function readDigests(context: CatalogueContext, ancestors: readonly Ancestor[]): Promise<Map<string, string>> {
  if (ancestors.length === 0) return new Map()
  const rows = await context.database.read
    .selectFrom('versions')
    .select(['skill_id', 'version', 'digest'])
    .where((eb) =>
      eb.or(
        ancestors.map(({ source, version }) => eb.and([eb('skill_id', '=', source.id), eb('version', '=', version)])),
      ),
    )
    .execute()
  return new Map(rows.map(({ skill_id, version, digest }) => [toKey(skill_id, version), digest]))
}

function toKey(skillId: string, version: string): string {
  return `${skillId}@${version}`
}

import type { Provenance } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { findSource } from './show-details.ts'
import { keepSeen } from './visibility.ts'
import type { SkillRow } from '../storage/tables.ts'

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

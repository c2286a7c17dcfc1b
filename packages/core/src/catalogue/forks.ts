import { RegistryError } from '@skillstead/protocol'
import { rewriteFrontmatterName } from '@skillstead/skill-format'
import type { Kysely } from 'kysely'
import { type Caller, requireAccount } from '../kernel/caller.ts'
import type { Input } from '../kernel/operation-input.ts'
import { appendChange } from '../log/append-change.ts'
import type { SkillRow, Tables, VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import type { ComparedSkill } from './copy-candidates.ts'
import { getSkillNow } from './find-skill.ts'
import { inspectPackage } from './inspect-packages.ts'
import { readPackageFields } from './package-fields.ts'
import { publishVersion, Quarantined } from './publish-version.ts'
import { getContent } from './read-skill.ts'
import { findSource, showDetails } from './show-details.ts'
import { packContent, type SkillPackage } from './skill-package.ts'
import { readPackageFiles } from './version-files.ts'
import { keepSeen } from './visibility.ts'

/** POST /skills/<name>/fork: copies the latest version to the caller's namespace. Throws `name_taken`. */
export async function forkSkill(context: CatalogueContext, input: Input<'forkSkill'>, caller: Caller) {
  const user = requireAccount(caller)
  const { skill: source, version } = await getContent(context, { name: input.name }, caller)
  const newName = input.newName ?? source.name
  const content = await readStored(context, version)
  const skillMd = rewriteFrontmatterName(content.skillMd, newName)
  const { description, license, keywords } = JSON.parse(version.metadata) as {
    description: string
    license: string
    keywords: string[]
  }
  const given = { name: newName, version: version.version, description, license, keywords, category: source.category }
  const fields = readPackageFields(skillMd, given, { requestWins: true })
  const owner = { id: user.userId, username: user.username }
  const packed = await packContent({ ...content, skillMd })
  const publication = {
    owner,
    publisher: owner,
    fields,
    content: packed,
    inspection: await inspectPackage(packed, context.clock.now()),
    settings: { visibility: source.visibility, category: source.category, repository: source.repository },
    // A changelog never changes, and the fork may become public while its source stays private.
    changelog: source.visibility === 'public' ? `Forked from ${source.full_name}@${version.version}.` : '',
    forkedFrom: { fullName: source.full_name, version: version.version },
  }
  const fork = await context.database.writer.write(async (trx) => {
    refuseClosed(source, await getSkillNow(context, trx, source, caller))
    await refuseTaken(trx, `${user.username}/${newName}`)
    const { skill } = await publishVersion(context, trx, publication, caller).catch(refuseQuarantined)
    await countFork(trx, source.id, context.clock.now())
    return skill
  })
  return showDetails(context, fork, caller)
}

/** Counts a new fork at its source. `at`: milliseconds since 1970. */
export async function countFork(trx: WriteTransaction, sourceId: string, at: number): Promise<void> {
  await trx
    .updateTable('skills')
    .set((eb) => ({ forks: eb('forks', '+', 1) }))
    .where('id', '=', sourceId)
    .execute()
  await appendChange(trx, { kind: 'counters', subject: sourceId, at, entries: [] })
}

async function readStored(context: CatalogueContext, version: VersionRow): Promise<SkillPackage> {
  const [skillMd, ...rest] = await readPackageFiles(context.database.read, version.id)
  return { skillMd: Buffer.from(skillMd!.bytes).toString(), files: rest }
}

/** A source that was hidden or made private since it was read must not survive under another name. */
function refuseClosed(read: SkillRow, now: SkillRow): void {
  if (now.state === 'hidden')
    throw new RegistryError('conflict', `${now.full_name} is hidden and cannot be forked until it is visible again.`)
  if (now.visibility !== read.visibility)
    throw new RegistryError('conflict', `${now.full_name} changed its visibility. Read it again before you fork it.`)
}

/** A fork is never quarantined: the caller may publish the content, which is then quarantined with a notice. */
function refuseQuarantined(error: unknown): never {
  if (!(error instanceof Quarantined)) throw error
  const { full_name } = error.published.skill
  const advice = 'Download it and publish it under your name; an administrator then reviews it.'
  throw new RegistryError('conflict', `A fork of ${full_name} would be quarantined because of its scan. ${advice}`)
}

async function refuseTaken(trx: WriteTransaction, fullName: string): Promise<void> {
  const taken = await trx.selectFrom('skills').select('id').where('full_name', '=', fullName).executeTakeFirst()
  if (taken)
    throw new RegistryError('name_taken', `You already have a skill ${fullName}. Choose another newName for the fork.`)
}

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
export async function readForkChain(context: CatalogueContext, skill: SkillRow, caller: Caller) {
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

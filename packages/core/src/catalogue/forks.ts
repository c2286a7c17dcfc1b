import { RegistryError } from '@skillstead/protocol'
import { rewriteFrontmatterName } from '@skillstead/skill-format'
import type { Kysely } from 'kysely'
import type { StorageContext } from '../storage/storage-context.ts'
import { type Caller, requireAccount } from '../kernel/caller.ts'
import type { Input } from '../kernel/operation-input.ts'
import { appendChange } from '../log/append-change.ts'
import { hasRow, increment } from '../storage/table-rows.ts'
import type { SkillRow, Tables, VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { getSkillNow } from './find-skill.ts'
import { inspectPackage } from './inspect-packages.ts'
import { toPackageTexts } from './metadata-scan.ts'
import { readPackageFields } from './package-fields.ts'
import { publishVersion, Quarantined } from './publish-version.ts'
import { getContent } from './read-skill.ts'
import { showDetails } from './show-details.ts'
import { packContent, type SkillPackage } from './skill-package.ts'
import { readPackageFiles } from './version-files.ts'
import { keepSeen } from '../visibility/decisions.ts'

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
  // Do not name a private source: a changelog never changes, and the fork may become public.
  const changelog = source.visibility === 'public' ? `Forked from ${source.full_name}@${version.version}.` : ''
  const publication = {
    owner,
    publisher: owner,
    fields,
    content: packed,
    inspection: await inspectPackage(context, { content: packed, texts: toPackageTexts(fields, changelog) }),
    settings: { visibility: source.visibility, category: source.category, repository: source.repository },
    changelog,
    forkedFrom: { fullName: source.full_name, version: version.version },
  }
  const fork = await context.database.writer.write(async (trx) => {
    refuseClosed(source, await getSkillNow(context, trx, source, caller))
    const fullName = `${user.username}/${newName}`
    if (await hasRow(trx, 'skills', { full_name: fullName }))
      throw new RegistryError('name_taken', `You already have a skill ${fullName}. Choose another newName.`)
    const { skill } = await publishVersion(context, trx, publication, caller).catch(refuseQuarantined)
    await countFork(trx, source.id, context.clock.now())
    return skill
  })
  return showDetails(context, fork, caller)
}

/** Counts a new fork at its source. `at`: milliseconds since 1970. */
export async function countFork(trx: WriteTransaction, sourceId: string, at: number): Promise<void> {
  await increment(trx, 'skills', sourceId, { forks: 1 })
  await appendChange(trx, { kind: 'counters', subject: sourceId, at, entries: [] })
}

async function readStored(context: StorageContext, version: VersionRow): Promise<SkillPackage> {
  const [skillMd, ...rest] = await readPackageFiles(context.database.read, version.id)
  return { skillMd: Buffer.from(skillMd!.bytes).toString(), files: rest }
}

/** Refuses a source that was hidden or made private since it was read: a fork must not preserve its content. */
function refuseClosed(read: SkillRow, now: SkillRow): void {
  if (now.state === 'hidden')
    throw new RegistryError('conflict', `${now.full_name} is hidden and cannot be forked until it is visible again.`)
  if (now.visibility !== read.visibility)
    throw new RegistryError(
      'conflict',
      `The visibility of ${now.full_name} has just changed. Read the skill again, then repeat the fork.`,
    )
}

/**
 * Refuses a fork that the scan policy would quarantine. The caller may publish the content instead, which is then
 * quarantined with a notice.
 */
function refuseQuarantined(error: unknown): never {
  if (!(error instanceof Quarantined)) throw error
  const { full_name } = error.published.skill
  const advice = 'Download it and publish it under your name; an administrator then reviews it.'
  throw new RegistryError('conflict', `A fork of ${full_name} would be quarantined because of its scan. ${advice}`)
}

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
  const sources = await readSources(db, skills)
  // A source that no longer exists is identified by its name.
  const climbed = (skill: Kin) => Array.from(climb(skill, sources), ({ name, source }) => source?.id ?? name)
  return new Map(skills.map((skill) => [skill.id, new Set([skill.id, ...climbed(skill)])]))
}

/** Whether one skill descends from the other, or both from a third. */
export function isKin(lineage: Lineage, a: string, b: string): boolean {
  return [...(lineage.get(a) ?? [])].some((id) => lineage.get(b)?.has(id))
}

/** The chain of skills that a skill was forked from, nearest first, limited to those that the caller may see. */
export async function readForkChain(context: StorageContext, skill: SkillRow, caller: Caller) {
  const { read } = context.database
  const chain = [...climb(skill, await readSources(read, [skill]))]
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
async function readSources(db: Kysely<Tables>, skills: readonly Kin[]) {
  const sources = new Map<string, Source | undefined>()
  let names = listUnknown(skills, sources)
  for (let i = 0; i < generationsMax && names.length > 0; i++) {
    const found = await findSources(db, names)
    for (const name of names) sources.set(name, found.get(name))
    names = listUnknown([...found.values()], sources)
  }
  return sources
}

function listUnknown(skills: readonly Kin[], sources: ReadonlyMap<string, unknown>): string[] {
  const names = new Set(skills.map(({ forked_from }) => forked_from))
  return [...names].filter((name): name is string => name !== null && !sources.has(name))
}

/** Finds skills by their current names or the names they had before a transfer. */
async function findSources(db: Kysely<Tables>, names: readonly string[]): Promise<Map<string, Source>> {
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

/** The forks' sources, nearest first. Names can move between skills, so the chain could be a cycle. */
function* climb(skill: Kin & Partial<Source>, sources: ReadonlyMap<string, Source | undefined>) {
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

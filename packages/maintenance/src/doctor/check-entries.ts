import { isDeepStrictEqual } from 'node:util'
import {
  countRows,
  createProgress,
  type FileRow,
  isPublicMatter,
  type OperatorContext,
  readFilesOfMany,
  readPages,
  type SkillRow,
  type Tell,
  toVersionEntry,
  type VersionMetadata,
  type VersionRow,
} from '@skillstead/core/internal'
import { restoreAdvice, type Check, type Faults } from './finding.ts'

const pageRows = 100

/**
 * What the public log said of versions, and cannot take back, against their rows: a row that was changed in the database
 * itself, behind the registry's back, is found by it.
 */
export const entriesCheck: Check = {
  name: 'entries',
  async run({ database }, tell, faults) {
    const versions = await checkVersions(database, faults, tell)
    const entries = await checkEntries(database, faults, tell)
    return faults.toOutcome(`${versions} versions and ${entries} entries of the log say the same.`, restoreAdvice)
  },
}

type Database = OperatorContext['database']

/** What an entry says of a version that its row has too. What administrators and owners set later is not among it. */
const compared = [
  ...(['size', 'files', 'displayName', 'description', 'license', 'keywords', 'changelog', 'portable'] as const),
  ...(['publishedAt', 'publisher'] as const),
] as const

async function checkVersions(database: Database, faults: Faults, tell: Tell): Promise<number> {
  const total = await countRows(database.read.selectFrom('versions'))
  const progress = createProgress(tell, 'versions', total)
  for await (const page of readPages(
    '',
    (after) => readVersions(database, after),
    ({ version }) => version.id,
  )) {
    const shown = page.filter(({ skill }) => isPublicMatter(skill))
    const files = await readFilesOfMany(
      database.read,
      shown.map(({ version }) => version.id),
    )
    const told = await readTold(database, shown.map(toSubject))
    for (const one of shown) {
      const problem = findProblem(one, told.get(toSubject(one)) ?? [], files.get(one.version.id) ?? [])
      if (problem) faults.add(problem)
    }
    progress(page.length)
  }
  return total
}

interface Stored {
  readonly version: VersionRow
  readonly skill: SkillRow
}

async function readVersions({ read }: Database, after: string): Promise<Stored[]> {
  const versions = await read
    .selectFrom('versions')
    .selectAll()
    .where('id', '>', after)
    .orderBy('id')
    .limit(pageRows)
    .execute()
  if (versions.length === 0) return []
  const ids = [...new Set(versions.map(({ skill_id }) => skill_id))]
  const skills = await read.selectFrom('skills').selectAll().where('id', 'in', ids).execute()
  const byId = new Map(skills.map((skill) => [skill.id, skill]))
  // One without its skill is told of by the database's own look.
  return versions.flatMap((version) => {
    const skill = byId.get(version.skill_id)
    return skill ? [{ version, skill }] : []
  })
}

function toSubject({ version, skill }: Stored): string {
  return `${skill.full_name}@${version.version}`
}

interface Told {
  readonly seq: number
  readonly type: string
  readonly digest: string | null
  readonly data: Record<string, unknown>
}

async function readTold({ read }: Database, subjects: readonly string[]): Promise<Map<string, Told[]>> {
  if (subjects.length === 0) return new Map()
  const rows = await read
    .selectFrom('log')
    .select(['seq', 'type', 'subject', 'digest', 'entry'])
    .where('subject', 'in', subjects)
    .where('type', 'in', ['version', 'yank'])
    .orderBy('seq')
    .execute()
  const told = rows.map(({ entry, ...row }) => ({ ...row, data: (JSON.parse(entry) as Pick<Told, 'data'>).data }))
  return Map.groupBy(told, ({ subject }) => subject)
}

function findProblem(stored: Stored, told: readonly Told[], files: readonly FileRow[]): string | undefined {
  const { skill, version } = stored
  const subject = toSubject(stored)
  const entry = told.findLast(({ type }) => type === 'version')
  if (!entry) return `${subject} is public, and the log has no entry of it.`
  if (entry.digest !== version.digest) return `${subject} has another digest than entry ${entry.seq} of the log says.`
  if (told.at(-1)!.data['yanked'] !== (version.yanked === 1)) {
    return `${subject} is ${version.yanked ? '' : 'not '}yanked, and entry ${told.at(-1)!.seq} of the log says otherwise.`
  }
  // What an upstream says is said on as it stands there.
  if (skill.origin_kind === 'mirror') return undefined
  const metadata = JSON.parse(version.metadata) as VersionMetadata
  const { data } = toVersionEntry(skill, version, { metadata, files }, true)
  const wrong = compared.find((field) => !isCut(entry, field) && !isDeepStrictEqual(data[field], entry.data[field]))
  return wrong && `${subject} has another ${wrong} than entry ${entry.seq} of the log says.`
}

/** Entries that would be too long are shortened, and those from before the log was a tree without saying so. */
function isCut({ data }: Told, field: string): boolean {
  return ((data['cut'] as string[] | undefined) ?? []).includes(field) || (data['files'] === null && field !== 'size')
}

/** Versions that the log tells of, and that are gone: versions never go. */
async function checkEntries(database: Database, faults: Faults, tell: Tell): Promise<number> {
  const total = await countRows(database.read.selectFrom('log'))
  const progress = createProgress(tell, 'entries', total)
  for await (const page of readPages(
    0,
    (after) => readEntries(database, after),
    ({ seq }) => seq,
  )) {
    const entries = page.filter(({ type }) => type === 'version')
    const there = await readThere(database, entries)
    for (const { seq, subject, digest, entry } of entries) {
      if (!there.has(toKey({ ...parseEntry(entry), digest }))) {
        faults.add(`The log's entry ${seq} is of ${subject}, which is not there with that content.`)
      }
    }
    progress(page.length)
  }
  return total
}

function readEntries({ read }: Database, after: number) {
  return read
    .selectFrom('log')
    .select(['seq', 'type', 'subject', 'digest', 'entry'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(pageRows)
    .execute()
}

type Entry = Awaited<ReturnType<typeof readEntries>>[number]

/** A mirrored skill may go by another id now, so versions are known by what they hold and are called. */
async function readThere({ read }: Database, entries: readonly Entry[]): Promise<Set<string>> {
  if (entries.length === 0) return new Set()
  const rows = await read
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select(['skills.name', 'versions.version', 'versions.digest'])
    .where('versions.digest', 'in', [...new Set(entries.map(({ digest }) => digest ?? ''))])
    .execute()
  return new Set(rows.map(toKey))
}

function parseEntry(entry: string) {
  const { data } = JSON.parse(entry) as { data: { skill: { name: string }; version: string } }
  return { name: data.skill.name, version: data.version }
}

function toKey({ name, version, digest }: { name: string; version: string; digest: string | null }): string {
  return `${name}@${version} ${digest}`
}

import { isDeepStrictEqual } from 'node:util'
import {
  parseJson,
  countRows,
  createProgress,
  findCoveringRecall,
  type FileRow,
  isPublished,
  type CatalogueContext,
  readActiveRecalls,
  readFileRowsOfMany,
  readPages,
  type SkillRow,
  type Report,
  toVersionEntry,
  type VersionRow,
} from '@skillstead/core/internal'
import { restoreAdvice, type Check, type Faults } from './finding.ts'
import { findRecallProblems, findResultProblems } from './logged-judgements.ts'

const pageRows = 100

/**
 * Compares versions with their entries in the append-only public log: finds rows that were changed directly in the
 * database.
 */
export const entriesCheck: Check = {
  name: 'entries',
  async run({ database }, report, faults) {
    const versions = await checkLoggedVersions(database, faults, report)
    const entries = await checkEntries(database, faults, report)
    for await (const problem of findRecallProblems(database.read)) faults.add(problem)
    return faults.toOutcome(`${versions} versions and ${entries} log entries match.`, restoreAdvice)
  },
}

type Database = CatalogueContext['database']

/**
 * Fields of an entry that the version's row also has, without those that administrators and owners can change later.
 */
const compared = [
  ...(['size', 'files', 'displayName', 'description', 'license', 'keywords', 'changelog', 'portable'] as const),
  ...(['publishedAt', 'publisher'] as const),
] as const

async function checkLoggedVersions(database: Database, faults: Faults, report: Report): Promise<number> {
  const total = await countRows(database.read.selectFrom('versions'))
  const progress = createProgress(report, 'versions', total)
  for await (const page of readPages(
    '',
    (after) => readStoredVersions(database, after),
    ({ version }) => version.id,
  )) {
    const shown = page.filter(({ skill }) => isPublished(skill))
    const files = await readFileRowsOfMany(
      database.read,
      shown.map(({ version }) => version.id),
    )
    const logged = await readLogged(database, shown.map(toVersionSubject))
    for (const one of shown) {
      const problem = findLoggedProblem(one, logged.get(toVersionSubject(one)) ?? [], files.get(one.version.id) ?? [])
      if (problem) faults.add(problem)
    }
    for await (const problem of findResultProblems(database.read, shown)) faults.add(problem)
    progress(page.length)
  }
  return total
}

interface Stored {
  readonly version: VersionRow
  readonly skill: SkillRow
}

async function readStoredVersions({ read }: Database, after: string): Promise<Stored[]> {
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
  // A version whose skill is missing is skipped: the database check reports it.
  return versions.flatMap((version) => {
    const skill = byId.get(version.skill_id)
    return skill ? [{ version, skill }] : []
  })
}

function toVersionSubject({ version, skill }: Stored): string {
  return `${skill.full_name}@${version.version}`
}

interface LoggedEntry {
  readonly seq: number
  readonly type: string
  readonly digest: string | null
  readonly data: Record<string, unknown>
}

async function readLogged({ read }: Database, subjects: readonly string[]): Promise<Map<string, LoggedEntry[]>> {
  if (subjects.length === 0) return new Map()
  const rows = await read
    .selectFrom('log')
    .select(['seq', 'type', 'subject', 'digest', 'entry'])
    .where('subject', 'in', subjects)
    .where('type', 'in', ['version', 'yank'])
    .orderBy('seq')
    .execute()
  const logged = rows.map(({ entry, ...row }) => {
    const { data }: Pick<LoggedEntry, 'data'> = JSON.parse(entry)
    return { ...row, data }
  })
  return Map.groupBy(logged, ({ subject }) => subject)
}

function findLoggedProblem(
  stored: Stored,
  logged: readonly LoggedEntry[],
  files: readonly FileRow[],
): string | undefined {
  const { skill, version } = stored
  const subject = toVersionSubject(stored)
  const entry = logged.findLast(({ type }) => type === 'version')
  if (!entry) return `${subject} is public but has no entry in the log.`
  if (entry.digest !== version.digest) return `${subject} and entry ${entry.seq} of the log differ in the digest.`
  if (logged.at(-1)!.data['yanked'] !== (version.yanked === 1)) {
    return `${subject} is ${version.yanked ? '' : 'not '}yanked, unlike in entry ${logged.at(-1)!.seq} of the log.`
  }
  if (findCoveringRecall(readActiveRecalls(skill), version.version) !== version.recalled_by)
    return `${subject} is ${version.recalled_by === null ? 'not ' : ''}recalled, unlike in the recalls of its skill.`
  const identity = version.identity === null ? undefined : parseJson(version.identity)
  if (!isDeepStrictEqual(identity, entry.data['identity']))
    return `${subject} and entry ${entry.seq} of the log differ in identity.`
  // Entries of mirrored skills are not compared, because they are relayed as the upstream wrote them.
  if (skill.origin_kind === 'mirror') return undefined
  const metadata = parseJson(version.metadata)
  const { data } = toVersionEntry(skill, version, { metadata, files }, true)
  const wrong = compared.find((field) => !isCut(entry, field) && !isDeepStrictEqual(data[field], entry.data[field]))
  return wrong && `${subject} and entry ${entry.seq} of the log differ in ${wrong}.`
}

/** Whether an entry was shortened by a whole field. Shortened entries from before the log was a tree have no `cut`. */
function isCut({ data }: LoggedEntry, field: string): boolean {
  return (Array.isArray(data['cut']) && data['cut'].includes(field)) || (data['files'] === null && field !== 'size')
}

/** Finds versions in the log that are missing from the database. Versions are never deleted. */
async function checkEntries(database: Database, faults: Faults, report: Report): Promise<number> {
  const total = await countRows(database.read.selectFrom('log'))
  const progress = createProgress(report, 'entries', total)
  for await (const page of readPages(
    0,
    (after) => readLoggedEntries(database, after),
    ({ seq }) => seq,
  )) {
    const entries = page.filter(({ type }) => type === 'version')
    const there = await readThere(database, entries)
    for (const { seq, subject, digest, entry } of entries) {
      if (!there.has(toLoggedKey({ ...parseLoggedEntry(entry), digest }))) {
        faults.add(`Entry ${seq} of the log is of ${subject}, which is missing or has other content.`)
      }
    }
    progress(page.length)
  }
  return total
}

function readLoggedEntries({ read }: Database, after: number) {
  return read
    .selectFrom('log')
    .select(['seq', 'type', 'subject', 'digest', 'entry'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(pageRows)
    .execute()
}

type Entry = Awaited<ReturnType<typeof readLoggedEntries>>[number]

/** The versions of entries that exist, matched by digest and name, because a mirrored skill may have another id now. */
async function readThere({ read }: Database, entries: readonly Entry[]): Promise<Set<string>> {
  if (entries.length === 0) return new Set()
  const rows = await read
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select(['skills.name', 'versions.version', 'versions.digest'])
    .where('versions.digest', 'in', [...new Set(entries.map(({ digest }) => digest ?? ''))])
    .execute()
  return new Set(rows.map(toLoggedKey))
}

function parseLoggedEntry(entry: string) {
  const { data }: { data: { skill: { name: string }; version: string } } = JSON.parse(entry)
  return { name: data.skill.name, version: data.version }
}

function toLoggedKey({ name, version, digest }: { name: string; version: string; digest: string | null }): string {
  return `${name}@${version} ${digest}`
}

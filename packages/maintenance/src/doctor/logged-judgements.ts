import { toFields } from '@skillstead/protocol'
import { isDeepStrictEqual } from 'node:util'
import {
  type CatalogueContext,
  isPublished,
  readActiveRecalls,
  readPages,
  type SkillRow,
  toEvaluationEntry,
  toRecallEntry,
  type VersionRow,
} from '@skillstead/core/internal'

type Reader = CatalogueContext['database']['read']

const pageRows = 100

/** An entry of the public log, with its data. */
interface LoggedEntry {
  readonly seq: number
  readonly subject: string
  readonly data: Record<string, unknown>
}

/** The fields of an `evaluation` entry that are compared with the row of the evaluation result. */
const resultFields = ['author', 'identity', 'byOwner', 'ranAt', 'postedAt', 'result'] as const

/** Compares the results of evaluations of versions of public skills with the newest entry of each user in the log. */
export async function* findResultProblems(
  read: Reader,
  stored: readonly { readonly version: VersionRow; readonly skill: SkillRow }[],
): AsyncGenerator<string> {
  const own = stored.filter(({ skill }) => isComparable(skill))
  if (own.length === 0) return
  const versions = new Map(own.map((one) => [one.version.id, one]))
  const rows = await read
    .selectFrom('evaluations')
    .selectAll()
    .where('version_id', 'in', [...versions.keys()])
    .execute()
  const skills = new Map(own.map(({ skill, version }) => [`${skill.full_name}@${version.version}`, skill]))
  const newest = await readNewest(read, 'evaluation', skills, ({ author }) => toFields(author)['id'])
  for (const row of rows) {
    const { skill, version } = versions.get(row.version_id)!
    const { subject, data } = toEvaluationEntry(skill, version, row)
    const key = `${subject} ${row.author_id}`
    const entry = newest.get(key)
    newest.delete(key)
    // A result that was withdrawn before its skill became public has no entry in the log.
    if (!entry && row.withdrawn === 1) continue
    if (!entry) yield `The result of ${row.author} for ${subject} has no entry in the log.`
    const wrong = entry && resultFields.find((field) => !isDeepStrictEqual(data[field], entry.data[field]))
    if (wrong) yield `The result of ${row.author} for ${subject} and entry ${entry.seq} of the log differ in ${wrong}.`
  }
  for (const { seq, subject } of newest.values())
    yield `Entry ${seq} of the log is of a result for ${subject}, which is missing.`
}

/** Compares the active recalls of public skills with the newest entry of each recall in the log. */
export async function* findRecallProblems(read: Reader): AsyncGenerator<string> {
  const readSkills = (after: string) =>
    read.selectFrom('skills').selectAll().where('id', '>', after).orderBy('id').limit(pageRows).execute()
  for await (const page of readPages('', readSkills, ({ id }) => id)) {
    const own = new Map(page.filter(isComparable).map((skill) => [skill.full_name, skill]))
    const newest = await readNewest(read, 'recall', own, ({ recall }) => toFields(recall)['id'])
    for (const [name, skill] of own) {
      for (const recall of readActiveRecalls(skill)) {
        const key = `${name} ${recall.id}`
        const entry = newest.get(key)
        newest.delete(key)
        const { data } = toRecallEntry(skill, recall)
        const what = `The recall ${recall.range} of ${name}`
        if (!entry) yield `${what} has no entry in the log.`
        else if (entry.data['ended']) yield `${what} is active, unlike in entry ${entry.seq} of the log.`
        else if (!isDeepStrictEqual(data['recall'], entry.data['recall']))
          yield `${what} and entry ${entry.seq} of the log differ.`
      }
    }
    for (const { seq, subject, data } of newest.values())
      if (!data['ended']) yield `Entry ${seq} of the log is of a recall of ${subject}, which is not active.`
  }
}

/** Entries of mirrored skills are relayed as the upstream wrote them, and are not compared. */
function isComparable(skill: SkillRow): boolean {
  return isPublished(skill) && skill.origin_kind !== 'mirror'
}

/**
 * The newest entries of one type about these subjects, by the subject and the key of the entry's data. When a withdrawn
 * skill becomes public again, the log gets new entries of all that still applies, so entries from before the withdrawal
 * are ignored.
 */
async function readNewest(
  read: Reader,
  type: 'evaluation' | 'recall',
  subjects: ReadonlyMap<string, SkillRow>,
  toKey: (data: LoggedEntry['data']) => unknown,
): Promise<Map<string, LoggedEntry>> {
  const newest = new Map<string, LoggedEntry>()
  if (subjects.size === 0) return newest
  const removals = await read
    .selectFrom('log')
    .select(({ fn }) => ['subject', fn.max('seq').as('seq')])
    .where('type', 'in', ['withdrawn', 'takedown'])
    .where('subject', 'in', [...new Set([...subjects.values()].map(({ full_name }) => full_name))])
    .groupBy('subject')
    .execute()
  const removedAt = new Map(removals.map(({ subject, seq }) => [subject, Number(seq)]))
  const readEntries = (after: number) =>
    read
      .selectFrom('log')
      .select(['seq', 'subject', 'entry'])
      .where('subject', 'in', [...subjects.keys()])
      .where('type', '=', type)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(pageRows)
      .execute()
  for await (const page of readPages(0, readEntries, ({ seq }) => seq)) {
    for (const { seq, subject, entry } of page) {
      const { data }: Pick<LoggedEntry, 'data'> = JSON.parse(entry)
      if (seq > (removedAt.get(subjects.get(subject)!.full_name) ?? 0))
        newest.set(`${subject} ${toKey(data)}`, { seq, subject, data })
    }
  }
  return newest
}

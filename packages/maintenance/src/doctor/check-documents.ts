import { attempt, entriesOf } from '@skillstead/protocol'
import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import {
  buildDocument,
  countRows,
  createProgress,
  type CatalogueContext,
  readPages,
  type SkillRow,
  storeComputed,
  type Tables,
  type WriteTransaction,
} from '@skillstead/core/internal'
import type { Check } from './finding.ts'

const pageRows = 100

/** Compares the stored public forms of skills with the rows they are derived from. */
export const documentsCheck: Check = {
  name: 'documents',
  async run({ database }, report, faults) {
    const total = await countRows(database.read.selectFrom('skills'))
    const progress = createProgress(report, 'skills', total)
    for await (const skills of readSkillRows(database)) {
      for (const skill of skills) {
        const problem = await findLastingProblem(database.read, skill)
        if (problem) faults.add(problem)
      }
      progress(skills.length)
    }
    return faults.toOutcome(`The public forms of all ${total} skills are correct.`)
  },
  async repair({ database }) {
    for await (const skills of readSkillRows(database)) {
      await database.writer.write(
        async (trx) => {
          for (const { id } of skills) await rebuildStoredDocument(trx, id)
        },
        { bulk: true },
      )
    }
  },
}

function readSkillRows({ read }: CatalogueContext['database']) {
  const page = (after: number) =>
    read.selectFrom('skills').selectAll().where('num', '>', after).orderBy('num').limit(pageRows).execute()
  return readPages(0, page, ({ num }) => num)
}

/** How many times a skill is read at most, if it changes between reads. */
const readsMax = 20

async function findLastingProblem(db: Kysely<Tables>, skill: SkillRow): Promise<string | undefined> {
  let current = skill
  let problem = await findDocumentProblem(db, current)
  for (let reads = 1; problem && reads < readsMax; reads += 1) {
    const now = await db.selectFrom('skills').selectAll().where('id', '=', skill.id).executeTakeFirstOrThrow()
    if (now.revision === current.revision) return problem
    current = now
    problem = await findDocumentProblem(db, current)
  }
  return problem
}

async function findDocumentProblem(db: Kysely<Tables>, skill: SkillRow): Promise<string | undefined> {
  const row = await db.selectFrom('skill_documents').selectAll().where('skill_id', '=', skill.id).executeTakeFirst()
  if (!row) return `The public form of ${skill.full_name} is missing.`
  if (row.revision !== skill.revision) return `The public form of ${skill.full_name} is not that of its last change.`
  const { document, columns } = await buildDocument(db, skill)
  if (!isSameDocument(row.document, document)) return `The public form of ${skill.full_name} differs from its rows.`
  const wrong = entriesOf(columns).find(([column, value]) => skill[column] !== value)
  return wrong && `The row of ${skill.full_name} and its latest version differ in ${wrong[0]}.`
}

/**
 * Compares the fields of the stored form by their values, because other releases wrote them in another order or without
 * newer fields. Ignores the time of a sync and the version of the form.
 */
function isSameDocument(stored: string, computed: string): boolean {
  if (stored === computed) return true
  const [a, b] = [parseStoredDocument(stored), parseStoredDocument(computed)]
  return a !== undefined && b !== undefined && Object.keys(a).every((field) => isDeepStrictEqual(a[field], b[field]))
}

function parseStoredDocument(document: string): Record<string, unknown> | undefined {
  return attempt(() => {
    const { form: _form, origin, ...rest }: Record<string, unknown> & { origin: object } = JSON.parse(document)
    return { ...rest, origin: { ...origin, syncedAt: null } }
  })
}

async function rebuildStoredDocument(trx: WriteTransaction, skillId: string): Promise<void> {
  const skill = await trx.selectFrom('skills').selectAll().where('id', '=', skillId).executeTakeFirstOrThrow()
  await storeComputed(trx, skill, await buildDocument(trx, skill))
}

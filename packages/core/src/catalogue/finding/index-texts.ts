import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { hourMs, minuteMs } from '../../kernel/clock.ts'
import { toIndexText } from '../../search/index-text.ts'
import type { Database } from '../../storage/database.ts'
import { findMeta, putMeta, removeMeta } from '../../storage/meta.ts'
import { parseJson, type Tables } from '../../storage/tables.ts'
import { clearTexts, mergeNewWords, putSkillText, type SkillText } from '../../storage/text-search.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'

const textsTopic = 'search.texts'
/**
 * Key in `meta` of the row number up to which skills were indexed again. The key exists while skills after this number
 * may have an index entry that an earlier program version wrote.
 */
const textsMetaKey = 'texts.indexed'
/** Skills per transaction, which blocks the event loop for about 20 ms. `textsPerRun`: skills per outbox row. */
const textsPerWrite = 20
const textsPerRun = 500
/** Skills per transaction of a repair. */
const textsPerRepair = 500

/** Milliseconds between a write and the merge of its words, so that one merge is for many writes. */
const mergeDelayMs = 2000

/** What the full-text index should have for a skill, with the skill's full name. */
export interface NumberedText {
  readonly num: number
  readonly name: string
  readonly text: SkillText
}

/**
 * Indexes again the skills that an earlier program version indexed, one batch per outbox row. This work continues after
 * a restart. Searches use the index meanwhile, and find old entries by fewer forms of words.
 */
export async function scheduleTexts(context: CatalogueContext): Promise<void> {
  const afterwards = async (trx: WriteTransaction) => {
    if (await hasOldTexts(trx))
      await context.outbox.enqueue(trx, { topic: textsTopic, payload: {}, uniqueKey: textsTopic })
  }
  const retryDelaysMs = [minuteMs, 10 * minuteMs, hourMs]
  context.outbox.handle(textsTopic, { retryDelaysMs, handle: () => indexOldTexts(context), afterwards })
  if (await hasOldTexts(context.database.read)) await context.database.writer.write(afterwards)
}

/** Merges the words of new skills into PostgreSQL's index some time after a commit, without delaying other writes. */
export function scheduleMerges({ database, closing }: CatalogueContext): void {
  if (database.dialect === 'sqlite') return
  let isScheduled = false
  async function merge(): Promise<void> {
    await setTimeout(mergeDelayMs, undefined, { signal: closing, ref: false })
    isScheduled = false
    await mergeNewWords(database.read)
  }
  database.writer.onCommit(() => {
    if (isScheduled) return
    isScheduled = true
    // A later write merges the words if the node is closing, or the database is unavailable.
    merge().catch(() => {})
  })
}

/** Whether some skills may have an index entry that an earlier program version wrote. */
export async function hasOldTexts(db: Kysely<Tables>): Promise<boolean> {
  return (await findMeta(db, textsMetaKey)) !== undefined
}

async function indexOldTexts({ database, closing }: CatalogueContext): Promise<void> {
  for (let left = textsPerRun; left > 0 && !closing.aborted; left -= textsPerWrite) {
    if (!(await indexTextBatch(database, textsPerWrite))) return
    await setImmediate()
  }
}

/** Empties and rebuilds the full-text index, even if the index is damaged or nodes are using it. */
export async function rebuildTexts(database: Database): Promise<void> {
  await database.writer.write(async (trx) => {
    await clearTexts(trx, database.dialect)
    await putMeta(trx, textsMetaKey, '0')
  })
  while (await indexTextBatch(database, textsPerRepair)) await setImmediate()
}

/** Indexes the next skills, at most `limit`. Returns false if no skills are left. */
async function indexTextBatch({ writer, dialect }: Database, limit: number): Promise<boolean> {
  // The texts are read in the writing transaction: a running node may change the rows between a read and a write.
  return writer.write(
    async (trx) => {
      const after = await findMeta(trx, textsMetaKey)
      if (after === undefined) return false
      const texts = await readTextsAfter(trx, Number(after), limit)
      for (const { num, text } of texts) await putSkillText(trx, dialect, num, () => text, { isNew: false })
      if (texts.length > 0) await putMeta(trx, textsMetaKey, String(texts.at(-1)!.num))
      else await removeMeta(trx, textsMetaKey)
      return texts.length > 0
    },
    { bulk: true },
  )
}

/** The texts that the index should contain for the next skills by row number; withdrawn skills are in no index. */
export async function readTextsAfter(db: Kysely<Tables>, after: number, limit: number): Promise<NumberedText[]> {
  const rows = await db
    .selectFrom('skills')
    .leftJoin('versions', (join) =>
      join.onRef('versions.skill_id', '=', 'skills.id').onRef('versions.version', '=', 'skills.latest_version'),
    )
    .leftJoin('version_terms', 'version_terms.version_id', 'versions.id')
    .select(['skills.num', 'skills.full_name', 'skills.name', 'skills.owner', 'skills.display_name', 'skills.keywords'])
    .select(['skills.description', 'skills.headings', 'skills.summary', 'skills.category', 'version_terms.terms'])
    .where('skills.num', '>', after)
    .where('skills.state', '!=', 'withdrawn')
    .orderBy('skills.num')
    .limit(limit)
    .execute()
  return rows.map(({ num, full_name, terms, ...row }) => {
    const [keywords, headings] = [parseJson(row.keywords), parseJson(row.headings)]
    const document = { ...row, displayName: row.display_name, keywords, headings }
    return { num, name: full_name, text: toIndexText(document, terms ?? undefined) }
  })
}

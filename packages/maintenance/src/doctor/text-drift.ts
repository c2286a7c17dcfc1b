import { toRecord } from '@skillstead/protocol'
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import { toVector, type Database, type NumberedText, type SkillText, type Tables } from '@skillstead/core/internal'

/**
 * Differences between the index and the skills: names of skills with missing or wrong entries, and numbers of surplus
 * entries.
 */
export interface WrongTexts {
  readonly missing: readonly string[]
  readonly wrong: readonly string[]
  readonly strange: readonly number[]
  readonly total: number
}

/** Compares the whole full-text index with the expected texts, word by word. */
export function findWrongTexts(database: Database, pages: AsyncIterable<NumberedText[]>): Promise<WrongTexts> {
  return database.dialect === 'sqlite' ? compareWords(database.read, pages) : compareVectors(database.read, pages)
}

/**
 * Refreshes a connection's view of SQLite's full-text index. A connection caches the places of the index's parts, and
 * only a query of the index itself detects that another connection moved them. Without it, the integrity checks would
 * report false damage.
 */
export async function noticeMovedTexts(db: Kysely<Tables>): Promise<void> {
  await sql`select rowid from skill_text limit 1`.execute(db)
}

/** The columns of `skill_text`, in the order of the table. */
const columns = ['name', 'owner', 'keywords', 'description', 'headings', 'summary', 'category', 'body'] as const
/** Number of word positions that are read at a time. */
const placesMax = 20_000

/**
 * SQLite's index stores only the positions of words, and returns them in the order of the words. So the stored and the
 * expected text of each skill are compared by a sum over words and positions, which does not depend on the order.
 */
async function compareWords(db: Kysely<Tables>, pages: AsyncIterable<NumberedText[]>): Promise<WrongTexts> {
  const found = await readSums(db)
  const rows = await sql<{ num: number }>`select rowid as num from skill_text`.execute(db)
  const strange = new Set(rows.rows.map(({ num }) => num))
  for (const num of found.keys()) strange.add(num)
  const missing: string[] = []
  const wrong: string[] = []
  let total = 0
  for await (const texts of pages) {
    for (const { num, name, text } of texts) {
      total += 1
      const expected = sumText(text)
      if (!strange.delete(num)) missing.push(name)
      else if ((found.get(num) ?? 0n) !== expected) wrong.push(name)
    }
  }
  return { missing, wrong, strange: [...strange], total }
}

async function readSums(db: Kysely<Tables>): Promise<Map<number, bigint>> {
  await sql`create virtual table if not exists temp.text_words using fts5vocab(main, skill_text, row)`.execute(db)
  await sql`create virtual table if not exists temp.text_places using fts5vocab(main, skill_text, instance)`.execute(db)
  const sums = new Map<number, bigint>()
  for (let after = ''; ;) {
    await noticeMovedTexts(db)
    const { rows: words } = await sql<{ term: string; cnt: number }>`select term, cnt from temp.text_words
      where term > ${after} order by term limit 2000`.execute(db)
    if (words.length === 0) return sums
    const last = toLast(words)
    const { rows } = await sql<{ term: string; doc: number; col: string; offset: number }>`
      select term, doc, col, "offset" from temp.text_places where term > ${after} and term <= ${last}`.execute(db)
    for (const { term, doc, col, offset } of rows) addToSum(sums, doc, hashWord(col, term, offset))
    after = last
    await setImmediate()
  }
}

/** The last word of the longest start of `words` that has at most `placesMax` positions; at least the first word. */
function toLast(words: readonly { term: string; cnt: number }[]): string {
  let places = 0
  const end = words.findIndex(({ cnt }) => (places += cnt) > placesMax)
  return words[end === -1 ? words.length - 1 : Math.max(0, end - 1)]!.term
}

function sumText(text: SkillText): bigint {
  let sum = 0n
  for (const column of columns) {
    const words = text[column].split(' ').filter(Boolean)
    for (const [offset, word] of words.entries()) sum = (sum + hashWord(column, word, offset)) & mask
  }
  return sum
}

const mask = (1n << 64n) - 1n

function addToSum(sums: Map<number, bigint>, num: number, hash: bigint): void {
  sums.set(num, ((sums.get(num) ?? 0n) + hash) & mask)
}

function hashWord(column: string, word: string, offset: number): bigint {
  return createHash('md5').update(`${column}\n${offset}\n${word}`).digest().readBigUInt64LE()
}

/** Compares whole vectors: PostgreSQL stores the vector of each text, and computes the expected vector. */
async function compareVectors(db: Kysely<Tables>, pages: AsyncIterable<NumberedText[]>): Promise<WrongTexts> {
  const missing: string[] = []
  const wrong: string[] = []
  const there = await sql<{ num: number }>`select num from skill_text`.execute(db)
  const strange = new Set(there.rows.map(({ num }) => num))
  let total = 0
  for await (const texts of pages) {
    total += texts.length
    for (const { num, name } of texts) if (!strange.delete(num)) missing.push(name)
    const differing = new Set(await findDiffering(db, texts))
    for (const { num, name } of texts) if (differing.has(num)) wrong.push(name)
  }
  return { missing, wrong, strange: [...strange], total }
}

async function findDiffering(db: Kysely<Tables>, texts: readonly NumberedText[]): Promise<number[]> {
  const given = JSON.stringify(texts.map(({ num, text }) => ({ num, ...text })))
  const vector = toVector(toRecord(columns, (name) => sql.ref(`given.${name}`)))
  const { rows } = await sql<{ num: number }>`select given.num from json_to_recordset(cast(${given} as json)) as given
    (num bigint, name text, owner text, keywords text, description text, headings text, summary text, category text, body text)
    join skill_text on skill_text.num = given.num where skill_text.vector <> ${vector}`.execute(db)
  return rows.map(({ num }) => num)
}

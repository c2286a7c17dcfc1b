import {
  type Database,
  type Dialect,
  type NumberedText,
  putSkillText,
  readPages,
  readTextsAfter,
  rebuildTexts,
  type WriteTransaction,
} from '@skillstead/core/internal'

type Reader = Database['read']

const pageRows = 500

/** Fills the empty full-text index (FTS5 or `tsvector`) from the skills, in the transaction of an import. */
export async function indexTexts(trx: WriteTransaction, dialect: Dialect): Promise<void> {
  for await (const texts of readTexts(trx)) {
    for (const { num, text } of texts) await putSkillText(trx, dialect, num, () => text, { isNew: true })
  }
}

/** Rebuilds the full-text index of a registry, also while nodes use it. */
export async function repairText({ database }: { readonly database: Database }): Promise<void> {
  await rebuildTexts(database)
}

/** The texts that the index should contain: of all skills except withdrawn ones. */
export function readTexts(db: Reader): AsyncGenerator<NumberedText[]> {
  return readPages(
    0,
    (after) => readTextsAfter(db, after, pageRows),
    ({ num }) => num,
  )
}

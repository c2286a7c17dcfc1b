import { type CatalogueContext, readPages, readSkillMdRows } from '@skillstead/core/internal'

const pageRows = 100

/** Selects a page of versions after an id, with the names of their skills. */
export function selectVersionsAfter({ database }: CatalogueContext, after: string) {
  return database.read
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select(['versions.id', 'versions.version', 'skills.full_name', 'skills.num'])
    .where('versions.id', '>', after)
    .orderBy('versions.id')
    .limit(pageRows)
}

/** Reads all versions in pages, each with the digest of its SKILL.md, or undefined if it has no content. */
export async function* readVersionPages<Row extends { readonly id: string }>(
  context: CatalogueContext,
  read: (after: string) => Promise<Row[]>,
): AsyncGenerator<{ row: Row; digest: string | undefined }[]> {
  for await (const rows of readPages('', read, ({ id }) => id)) {
    const ids = rows.map(({ id }) => id)
    const sources = await readSkillMdRows(context, ids)
    yield rows.map((row) => ({ row, digest: sources.get(row.id)?.digest }))
  }
}

import { toManifest } from '@skillstead/protocol'
import {
  countRows,
  createProgress,
  type FileRow,
  type CatalogueContext,
  readFileRowsOfMany,
  readPages,
  type Report,
} from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { restoreAdvice, type Check, type Faults } from './finding.ts'

const pageRows = 200

type Db = CatalogueContext['database']['read']

/** Recomputes the digest and size of every version from its file list. */
export const versionsCheck: Check = {
  name: 'versions',
  async run({ database }, report, faults) {
    const total = await checkVersionDigests(database.read, faults, report)
    return faults.toOutcome(`All ${total} versions match their digests.`, restoreAdvice)
  },
}

/** Checks every version; returns the number of versions. */
export async function checkVersionDigests(db: Db, faults: Faults, report: Report = () => {}): Promise<number> {
  const total = await countRows(db.selectFrom('versions'))
  const progress = createProgress(report, 'versions', total)
  for await (const rows of readPages(
    '',
    (after) => readNumberedVersions(db, after),
    ({ id }) => id,
  )) {
    const files = await readFileRowsOfMany(
      db,
      rows.map(({ id }) => id),
    )
    for (const row of rows) checkVersion(row, files.get(row.id) ?? [], faults)
    progress(rows.length)
  }
  return total
}

type Row = Awaited<ReturnType<typeof readNumberedVersions>>[number]

function readNumberedVersions(db: Db, after: string) {
  return db
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select(['versions.id', 'versions.version', 'versions.digest', 'versions.size', 'skills.full_name'])
    .where('versions.id', '>', after)
    .orderBy('versions.id')
    .limit(pageRows)
    .execute()
}

function checkVersion({ full_name, version, digest, size }: Row, files: readonly FileRow[], faults: Faults): void {
  const name = `${full_name}@${version}`
  if (!files.some(({ path }) => path === 'SKILL.md')) return faults.add(`${name} has no SKILL.md in its file list.`)
  if (toDigest(toManifest(files)) !== digest) return faults.add(`The file list of ${name} does not match its digest.`)
  const bytes = files.reduce((sum, file) => sum + file.size, 0)
  if (bytes !== size) faults.add(`${name} has ${bytes} bytes, but its row has ${size}.`)
}

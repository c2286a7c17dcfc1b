import { inspectEach, mapInBatches, openBlob, type CatalogueContext } from '@skillstead/core/internal'
import { type ManifestFile } from '@skillstead/protocol'
import { findGitProblems } from '@skillstead/skill-format/archives'
import type { VersionEntry } from './entry-data.ts'
import { readEntryFiles } from './entry-files.ts'
import { refusePlace, type Refusal } from './place-skill.ts'
import { isRefusal, packVersion, selectInBatches, type PackedVersion, type PreparedVersion } from './prepare-package.ts'
import { toPublishedKeywords, toPublishedText } from './published-text.ts'

/**
 * Reads and scans the versions that are not stored yet, in worker threads if that is faster. The result has a refusal
 * for a version that cannot be imported, and no entry for a stored version.
 */
export async function prepareVersions(
  context: CatalogueContext,
  versions: readonly VersionEntry[],
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<Map<VersionEntry, PreparedVersion | Refusal>> {
  const stored = await findStoredVersions(context, versions)
  const fresh = versions.filter(({ data }) => !stored.has(toPreparedKey(data.skill.id, data.version)))
  const files = new Map(fresh.map((version) => [version, readEntryFiles(version.entry, contents)]))
  const listed = [...files.values()].flatMap((read) => ('files' in read ? read.files : []))
  const bytes = await addStoredFiles(context, listed, contents)
  const packed = await mapInBatches(fresh, (version) => packEntryVersion(version, files.get(version)!, bytes))
  const readable = packed.flatMap((one) => (isRefusal(one) ? [] : [one]))
  const inspections = await inspectEach(context, readable, ({ changelog }) => changelog)
  return new Map(
    fresh.map((version, i) => {
      const one = packed[i]!
      return [version, isRefusal(one) ? one : { ...one, inspection: inspections.get(one)! }]
    }),
  )
}

/** The keys of the versions that are stored. Stored versions never change and are never deleted. */
async function findStoredVersions(
  { database }: CatalogueContext,
  versions: readonly VersionEntry[],
): Promise<Set<string>> {
  const rows = await selectInBatches(versions, (batch) =>
    database.read
      .selectFrom('versions')
      .select(['skill_id', 'version'])
      .where('digest', 'in', [...new Set(batch.map(({ entry }) => entry.digest!))])
      .where('skill_id', 'in', [...new Set(batch.map(({ data }) => data.skill.id))])
      .execute(),
  )
  return new Set(rows.map(({ skill_id, version }) => toPreparedKey(skill_id, version)))
}

function toPreparedKey(skillId: string, version: string): string {
  return `${skillId}@${version}`
}

/** Adds the files that were not fetched because this node already stores them for other versions. */
async function addStoredFiles(
  { database }: CatalogueContext,
  files: readonly ManifestFile[],
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const wanted = files.map(({ digest }) => digest).filter((digest) => !contents.has(digest))
  const rows = await selectInBatches(wanted, (batch) =>
    database.read.selectFrom('blobs').selectAll().where('digest', 'in', batch).execute(),
  )
  const all = new Map(contents)
  for (const row of rows) all.set(row.digest, await openBlob(database, row))
  return all
}

async function packEntryVersion(
  version: VersionEntry,
  read: ReturnType<typeof readEntryFiles>,
  bytes: ReadonlyMap<string, Uint8Array>,
): Promise<(PackedVersion & { readonly changelog: string }) | Refusal> {
  const { subject, digest } = version.entry
  if ('problem' in read) return refusePlace('invalid', read.problem)
  const files = 'files' in read ? read.files : []
  // The paths are checked before missing files are reported: an upstream that quarantined the version returns no files.
  const [inGit] = findGitProblems(files.map(({ path }) => path))
  if (inGit) {
    return refusePlace('invalid', `${subject} is not a version that this node accepts. ${inGit.path}: ${inGit.message}`)
  }
  if ('list' in read || files.some((file) => !bytes.has(file.digest))) {
    return refusePlace(
      'missing',
      `The upstream does not return the files of ${subject}. It may have withdrawn the skill.`,
    )
  }
  const found = files.map(({ path, digest: of, executable = false }) => ({ path, bytes: bytes.get(of)!, executable }))
  const packed = await packVersion(subject, found, { digest, given: toVersionFields(version) })
  if (isRefusal(packed)) return packed
  const { metadata } = packed.fields
  return {
    ...packed,
    changelog: version.data.changelog,
    fields: { ...packed.fields, metadata: { ...metadata, category: metadata.category || undefined } },
  }
}

/** The texts of the entry, which replace those of the frontmatter. Undefined for texts that the entry shortened. */
function toVersionFields({ data }: VersionEntry) {
  const take = <Value>(field: string, value: Value) => (data.cut.includes(field) ? undefined : value)
  const text = (field: 'displayName' | 'description' | 'license' | 'category') =>
    take(field, toPublishedText(data[field], field))
  return {
    name: data.skill.name,
    version: data.version,
    displayName: text('displayName') || undefined,
    description: text('description'),
    license: text('license'),
    keywords: take('keywords', toPublishedKeywords(data.keywords)),
    category: text('category'),
  }
}

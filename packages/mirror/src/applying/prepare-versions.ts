import { RegistryError, type ManifestFile } from '@skillstead/protocol'
import { findGitProblems } from '@skillstead/skill-format/archives'
import {
  unpackBlob,
  type CatalogueContext,
  inspectEach,
  type Inspection,
  readPackageFields,
  type PackageFields,
  checkPackage,
  packContent,
  type PackedContent,
  mapInSlices,
} from '@skillstead/core/internal'
import type { VersionEntry } from './entry-data.ts'
import { readEntryFiles } from './entry-files.ts'
import { refuse, type Refusal } from './place-skill.ts'
import { toPublishedKeywords, toPublishedText } from './published-text.ts'

/** A version that was read, checked against its digests and looked at, before any transaction begins. */
export interface PreparedVersion {
  readonly fields: PackageFields
  readonly content: PackedContent
  readonly inspection: Inspection
}

type Packed = Omit<PreparedVersion, 'inspection'>

/** So many versions or blobs are looked up with one query. */
const lookedUpMax = 100

/**
 * Reads and inspects the versions that are not here yet, on other threads where that pays. What cannot come in has its
 * refusal in place of that; what is here already is left out.
 */
export async function prepareVersions(
  context: CatalogueContext,
  versions: readonly VersionEntry[],
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<Map<VersionEntry, PreparedVersion | Refusal>> {
  const there = await findThere(context, versions)
  const fresh = versions.filter((version) => !there.has(toKey(version.data.skill.id, version.data.version)))
  const files = new Map(fresh.map((version) => [version, readEntryFiles(version.entry, contents)]))
  const bytes = await readStored(
    context,
    [...files.values()].flatMap((read) => ('files' in read ? read.files : [])),
    contents,
  )
  const packed = await mapInSlices(fresh, (version) => pack(version, files.get(version)!, bytes))
  const readable = packed.flatMap((one) => (isRefusal(one) ? [] : [one]))
  const inspections = await inspectEach(readable, context.clock.now())
  return new Map(
    fresh.map((version, i) => {
      const one = packed[i]!
      return [version, isRefusal(one) ? one : { ...one, inspection: inspections.get(one)! }]
    }),
  )
}

/** Which of them the catalogue has: versions never change and never go. */
async function findThere({ database }: CatalogueContext, versions: readonly VersionEntry[]): Promise<Set<string>> {
  const there = new Set<string>()
  for (let i = 0; i < versions.length; i += lookedUpMax) {
    const part = versions.slice(i, i + lookedUpMax)
    const rows = await database.read
      .selectFrom('versions')
      .select(['skill_id', 'version'])
      .where('digest', 'in', [...new Set(part.map(({ entry }) => entry.digest!))])
      .where('skill_id', 'in', [...new Set(part.map(({ data }) => data.skill.id))])
      .execute()
    for (const { skill_id, version } of rows) there.add(toKey(skill_id, version))
  }
  return there
}

function toKey(skillId: string, version: string): string {
  return `${skillId}@${version}`
}

/** What was not fetched because it is here: files that other versions have too. */
async function readStored(
  { database }: CatalogueContext,
  files: readonly ManifestFile[],
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const wanted = [...new Set(files.map(({ digest }) => digest))].filter((digest) => !contents.has(digest))
  if (wanted.length === 0) return contents
  const all = new Map(contents)
  for (let i = 0; i < wanted.length; i += lookedUpMax) {
    const part = wanted.slice(i, i + lookedUpMax)
    const rows = await database.read.selectFrom('blobs').selectAll().where('digest', 'in', part).execute()
    for (const row of rows) all.set(row.digest, await unpackBlob(row))
  }
  return all
}

async function pack(
  version: VersionEntry,
  read: ReturnType<typeof readEntryFiles>,
  bytes: ReadonlyMap<string, Uint8Array>,
): Promise<Packed | Refusal> {
  const { entry } = version
  if ('problem' in read) return refuse('invalid', read.problem)
  const files = 'files' in read ? read.files : []
  // An upstream that quarantined the version does not serve its files.
  const [inGit] = findGitProblems(files.map(({ path }) => path))
  if (inGit)
    return refuse('invalid', `${entry.subject} is no version that this node takes. ${inGit.path}: ${inGit.message}`)
  const missing = 'list' in read || files.some(({ digest }) => !bytes.has(digest))
  if (missing)
    return refuse(
      'missing',
      `The upstream does not serve the files of ${entry.subject}; it may be withdrawn there by now.`,
    )
  try {
    return await packFiles(
      version,
      files.map(({ path, digest }) => ({ path, bytes: bytes.get(digest)! })),
    )
  } catch (error) {
    if (!(error instanceof RegistryError) || error.status >= 500) throw error
    return refuse('invalid', `${entry.subject} is no version that this node takes. ${error.message}`)
  }
}

async function packFiles(
  version: VersionEntry,
  files: readonly { readonly path: string; readonly bytes: Uint8Array }[],
): Promise<Packed | Refusal> {
  const { entry } = version
  const document = files.find(({ path }) => path === 'SKILL.md')
  const skillMd = document && decodeUtf8(document.bytes)
  if (skillMd === undefined) return refuse('invalid', `${entry.subject} has no SKILL.md in UTF-8.`)
  const rest = files.filter((file) => file !== document)
  checkPackage({ skillMd, files: rest })
  const content = await packContent({ skillMd, files: rest })
  // Of the very bytes that are about to be stored: whatever was fetched or said before counts for nothing.
  if (content.digest !== entry.digest)
    return refuse('altered', `The files of ${entry.subject} are not those of its digest.`)
  return { fields: readFields(version, skillMd), content }
}

/** What the entry says wins over the frontmatter, except for what the entry had to cut short. */
function readFields({ data }: VersionEntry, skillMd: string): PackageFields {
  const { cut } = data
  const take = <Value>(field: string, value: Value) => (cut.includes(field) ? undefined : value)
  const given = {
    name: data.skill.name,
    version: data.version,
    displayName: take('displayName', toPublishedText(data.displayName, 'displayName') || undefined),
    description: take('description', toPublishedText(data.description, 'description')),
    license: take('license', toPublishedText(data.license, 'license')),
    keywords: take('keywords', toPublishedKeywords(data.keywords)),
    category: take('category', toPublishedText(data.category, 'category')),
  }
  const fields = readPackageFields(skillMd, given, { requestWins: true, describeFromBody: true })
  return { ...fields, metadata: { ...fields.metadata, category: fields.metadata.category || undefined } }
}

/** The text of a document; undefined where it is not UTF-8. Decoding and encoding it again gives the same bytes. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Whether something could not be read or taken. */
export function isRefusal<Value extends object>(one: Value | Refusal): one is Refusal {
  return 'result' in one
}

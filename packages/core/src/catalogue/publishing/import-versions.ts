import { isVersion, RegistryError, type Warning } from '@skillstead/protocol'
import { warnOfFiles } from '@skillstead/skill-format/archives'
import type { StorageContext } from '../../storage/storage-context.ts'
import { ensureNamespace } from '../../accounts/users.ts'
import { mapInBatches } from '../../kernel/batches.ts'
import { accountId, requireScope, requireUser, type Caller } from '../../kernel/caller.ts'
import { toRegistryError } from '../../storage/storage-error.ts'
import { undo, type WriteOptions, type WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { inspectEach, type InspectionContext } from '../inspecting/inspect-packages.ts'
import type { Inspection } from '../versions/inspection.ts'
import { type PackageFields, readPackageFields } from '../versions/package-fields.ts'
import { publishVersion } from './publish-version.ts'
import type { Publication } from './publication.ts'
import { quarantineVersion } from './quarantine-version.ts'
import { requireStorage } from '../skills/storage-quota.ts'
import { checkPackage, type PackageFile, packContent, type PackedContent } from '../versions/skill-package.ts'

/** A version from another registry or source, with the source's metadata. */
export interface ImportedVersion {
  /** A username. An unknown username becomes an unclaimed namespace, as which no one can sign in. */
  readonly owner: string
  readonly name: string
  readonly displayName?: string
  readonly skillMd: string
  readonly files?: readonly PackageFile[]
  /** The version number, used only if higher than the existing versions. Default: the next patch. */
  readonly version?: string
  readonly license?: string
  readonly category?: string
  readonly repository?: string
  readonly changelog?: string
  /** Milliseconds since 1970. Distinguishes versions with equal content in an imported history. */
  readonly publishedAt?: number
}

/** An imported version that was stored or quarantined. */
export interface Imported {
  readonly fullName: string
  readonly version: string
  /** False if the same version was already stored. */
  readonly created: boolean
  readonly warnings: readonly Warning[]
  /** The id in quarantine, if the scan policy quarantined the version. */
  readonly quarantineId?: string
  readonly error?: undefined
}

/** The outcome of one imported version; `error` is the reason for a refusal. */
export type ImportOutcome = Imported | { readonly error: RegistryError }

/** Versions looked up per query. */
const importsPerQuery = 100

/**
 * Publishes versions from other sources, in order, under their authors' names if the caller is the operator. Other
 * callers may import only under their own names. The source's metadata takes precedence over the frontmatter.
 * Importing the same versions again changes nothing. Returns one outcome per version, in order: a version that fails,
 * also in the database, does not affect the others. Throws `forbidden` without the scope `publish`, and the error of a
 * storage that is full, damaged or unavailable.
 */
export async function importVersions(context: CatalogueContext, items: readonly ImportedVersion[], caller: Caller) {
  requireScope(requireUser(caller), 'publish')
  const prepared = await prepareImports(context, items)
  const ending = new AbortController()
  const order: ImportOrder = { caller, write: { bulk: true, signal: ending.signal } }

  async function attempt(one: Prepared | RegistryError): Promise<ImportOutcome> {
    if (one instanceof RegistryError) return { error: one }
    try {
      return await storeImport(context, one, order).catch((error: unknown) => {
        return { error: toImportRefusal(context, one.item, error) }
      })
    } catch (error) {
      ending.abort(error)
      throw error
    }
  }

  // All versions are submitted at once, so that they share commits. The writer preserves their order.
  const attempts = await Promise.allSettled(prepared.map(attempt))
  ending.signal.throwIfAborted()
  return attempts.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}

/** As {@link importVersions} for one version; throws the error of a refusal. */
export async function importVersion(context: CatalogueContext, item: ImportedVersion, caller: Caller) {
  const [outcome] = await importVersions(context, [item], caller)
  if (outcome!.error) throw outcome!.error
  return outcome!
}

/** A parsed version that was not yet looked up in the database. */
interface Packed {
  readonly item: ImportedVersion
  readonly fields: PackageFields
  readonly content: PackedContent
}

interface Prepared extends Packed {
  /** Undefined if the version is already stored. */
  readonly inspection: Inspection | undefined
}

/** Who imports the versions of a call, and how they are written. */
interface ImportOrder {
  readonly caller: Caller
  readonly write: WriteOptions
}

async function prepareImports(context: RefusalContext & InspectionContext, items: readonly ImportedVersion[]) {
  const packed = await mapInBatches(items, (item) =>
    packImport(item).catch((error: unknown) => toImportRefusal(context, item, error)),
  )
  const readable = packed.flatMap((one) => (one instanceof RegistryError ? [] : [one]))
  const there = await findImported(context, readable)
  const fresh = readable.filter((one) => !there.has(one))
  const inspections = await inspectEach(context, fresh, ({ item }) => item.changelog)
  return packed.map((one) => (one instanceof RegistryError ? one : { ...one, inspection: inspections.get(one) }))
}

async function packImport(item: ImportedVersion): Promise<Packed> {
  const { skillMd, files = [], name, displayName, version, license, category } = item
  checkPackage({ skillMd, files })
  // A number that is not a semantic version is ignored; the next patch is used.
  const given = {
    name,
    displayName,
    version: version !== undefined && isVersion(version) ? version : undefined,
    license,
    category,
  }
  const fields = readPackageFields(skillMd, given, { requestWins: true, describeFromBody: true })
  const warnings = [...fields.warnings, ...warnOfFiles(files)]
  return { item, fields: { ...fields, warnings }, content: await packContent({ skillMd, files }) }
}

/** The versions that were imported before. Versions are immutable and never deleted. */
async function findImported({ database }: StorageContext, packed: readonly Packed[]): Promise<Set<Packed>> {
  const there = new Set<Packed>()
  for (let i = 0; i < packed.length; i += importsPerQuery) {
    const part = packed.slice(i, i + importsPerQuery)
    const found = await database.read
      .selectFrom('versions')
      .innerJoin('skills', 'skills.id', 'versions.skill_id')
      .select(['skills.full_name', 'versions.digest', 'versions.published_at'])
      .where('versions.digest', 'in', [...new Set(part.map(({ content }) => content.digest))])
      .where('skills.full_name', 'in', [...new Set(part.map(toImportedName))])
      .execute()
    for (const one of part) if (found.some((row) => isSameImport(row, one))) there.add(one)
  }
  return there
}

function toImportedName({ item, fields }: Packed): string {
  return `${item.owner}/${fields.name}`
}

function isSameImport(row: { full_name: string; digest: string; published_at: number }, one: Packed): boolean {
  const { publishedAt } = one.item
  if (row.digest !== one.content.digest || row.full_name !== toImportedName(one)) return false
  return publishedAt === undefined || publishedAt === row.published_at
}

async function storeImport(
  context: CatalogueContext,
  prepared: Prepared,
  { caller, write }: ImportOrder,
): Promise<Imported> {
  const { writer } = context.database
  const published = await writer.write(async (trx) => {
    const publication = await toImportPublication(context, trx, prepared, caller)
    const decided = await publishVersion(context, trx, publication, caller)
    if (decided.quarantinedFor) undo(trx)
    return decided
  }, write)
  const { skill, version, created, warnings, quarantinedFor } = published
  const outcome = { fullName: skill.full_name, version: version.version, warnings }
  if (!quarantinedFor) return { ...outcome, created }
  const { id } = await writer.write(async (trx) => {
    // The rollback also removed the owner's namespace if the namespace was new: create it again.
    const publication = await toImportPublication(context, trx, prepared, caller)
    const inspected = { ...publication, inspection: prepared.inspection! }
    return quarantineVersion(context, trx, { publication: inspected, unpublished: published }, caller)
  }, write)
  return { ...outcome, created: false, quarantineId: id }
}

async function toImportPublication(
  context: CatalogueContext,
  trx: WriteTransaction,
  prepared: Prepared,
  caller: Caller,
): Promise<Publication> {
  const { item, fields, content, inspection } = prepared
  const owner = await getImportOwner(context, trx, prepared, caller)
  return {
    owner,
    publisher: owner,
    fields,
    content,
    inspection,
    settings: { category: item.category && fields.metadata.category, repository: item.repository },
    changelog: item.changelog ?? '',
    publishedAt: item.publishedAt,
    imported: true,
  }
}

/** The operator imports under any name. A user imports only under the user's own name, within the storage quota. */
async function getImportOwner(
  context: CatalogueContext,
  trx: WriteTransaction,
  { item, content, inspection }: Prepared,
  caller: Caller,
): Promise<Publication['owner']> {
  const user = requireUser(caller)
  if (accountId(user) === null) return ensureNamespace(trx, item.owner, context.clock.now())
  if (item.owner !== user.username) {
    throw new RegistryError('forbidden', `You may not import skills of ${item.owner}. Import under ${user.username}.`)
  }
  const own = { id: user.userId, username: user.username }
  if (inspection) await requireStorage(context, trx, own, { name: 'this version', bytes: content.size })
  return own
}

type RefusalContext = StorageContext & Pick<CatalogueContext, 'onError' | 'closing'>

/**
 * Converts the error of a version to a refusal. An error that the version did not cause, such as a full disk or the mode
 * `read`, is thrown and ends the import.
 */
function toImportRefusal({ onError, closing }: RefusalContext, item: ImportedVersion, cause: unknown): RegistryError {
  const error = toRegistryError(cause)
  if (error instanceof RegistryError && error.status < 500 && error.code !== 'read_only') return error
  if (error instanceof RegistryError || closing.aborted) throw error
  onError(new Error(`A version of ${item.owner}/${item.name} could not be imported.`, { cause }))
  // Errors of the database name tables and contain values.
  const detail = 'The version could not be stored because of an internal error. The error log has the cause.'
  return new RegistryError('internal', detail, { cause })
}

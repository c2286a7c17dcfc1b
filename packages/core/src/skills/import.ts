import { setImmediate } from 'node:timers/promises'
import { RegistryError, isVersion, type Warning } from '@skillstead/protocol'
import { ensureNamespace } from '../accounts/users.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { readPackageFields, type PackageFields } from './package-fields.ts'
import { publishVersion } from './publish-version.ts'
import { checkPackage, packContent, type PackageFile, type PackedContent } from './skill-package.ts'

/** A version from elsewhere, with what its source says of it. */
export interface ImportedVersion {
  /** A username; one that is not there becomes a namespace nobody can sign in as. */
  readonly owner: string
  readonly name: string
  readonly displayName?: string
  readonly skillMd: string
  readonly files?: readonly PackageFile[]
  /** Used where it is higher than what is there; the next patch otherwise. */
  readonly version?: string
  readonly license?: string
  readonly category?: string
  readonly repository?: string
  readonly changelog?: string
  /** Milliseconds since 1970; also what tells one part of a history from another. */
  readonly publishedAt?: number
}

/** A version that is there now. */
export interface Imported {
  readonly fullName: string
  readonly version: string
  /** False where the very same was there already. */
  readonly created: boolean
  readonly warnings: readonly Warning[]
  readonly error?: undefined
}

/** What became of one version of an import; `error` says why it was refused. */
export type ImportOutcome = Imported | { readonly error: RegistryError }

/** How long reading and compressing may hold the event loop at a time. */
const sliceMs = 10

/**
 * Publishes versions that were made elsewhere, in their order, under their authors' names. What the source says wins
 * over the frontmatter. Importing the same again changes nothing. One outcome for each, in the same order.
 */
export async function importVersions(
  context: Context,
  items: readonly ImportedVersion[],
  caller: Caller,
): Promise<ImportOutcome[]> {
  const prepared = await prepareAll(items)
  // All at once, so that they share commits; the writer keeps their order.
  return Promise.all(
    prepared.map((item) => (item instanceof RegistryError ? { error: item } : store(context, item, caller))),
  )
}

/** As {@link importVersions} for one; throws what it was refused for. */
export async function importVersion(context: Context, item: ImportedVersion, caller: Caller): Promise<Imported> {
  const [outcome] = await importVersions(context, [item], caller)
  if (outcome!.error) throw outcome!.error
  return outcome!
}

interface Prepared {
  readonly item: ImportedVersion
  readonly fields: PackageFields
  readonly content: PackedContent
}

/** What is compressed on other threads meanwhile is waited for at the end. */
async function prepareAll(items: readonly ImportedVersion[]): Promise<(Prepared | RegistryError)[]> {
  const prepared: Promise<Prepared | RegistryError>[] = []
  let startedMs = performance.now()
  for (const item of items) {
    prepared.push(prepare(item).catch(toRefusal))
    if (performance.now() - startedMs < sliceMs) continue
    await setImmediate()
    startedMs = performance.now()
  }
  return Promise.all(prepared)
}

async function prepare(item: ImportedVersion): Promise<Prepared> {
  const { skillMd, files = [], name, displayName, version, license, category } = item
  checkPackage({ skillMd, files })
  // A number that is none of ours says nothing; the next patch is taken.
  const given = {
    name,
    displayName,
    version: version !== undefined && isVersion(version) ? version : undefined,
    license,
    category,
  }
  const fields = readPackageFields(skillMd, given, { requestWins: true, describeFromBody: true })
  return { item, fields, content: await packContent({ skillMd, files }) }
}

async function store(context: Context, { item, fields, content }: Prepared, caller: Caller): Promise<ImportOutcome> {
  try {
    return await context.database.writer.write(async (trx) => {
      const owner = await ensureNamespace(trx, item.owner, context.clock.now())
      const publication = {
        owner,
        publisher: owner,
        fields,
        content,
        settings: { category: item.category && fields.metadata.category, repository: item.repository },
        changelog: item.changelog ?? '',
        publishedAt: item.publishedAt,
        imported: true,
      }
      const { skill, version, created } = await publishVersion(context, trx, publication, caller)
      return { fullName: skill.full_name, version: version.version, created, warnings: fields.warnings }
    })
  } catch (error) {
    return { error: toRefusal(error) }
  }
}

/** A version that is refused is told of; anything else, such as a full disk, ends the import. */
function toRefusal(error: unknown): RegistryError {
  if (error instanceof RegistryError && error.status < 500) return error
  throw error
}

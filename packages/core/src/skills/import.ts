import type { Warning } from '@skillstead/protocol'
import { ensureNamespace } from '../accounts/users.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { readPackageFields } from './package-fields.ts'
import { publishVersion } from './publish-version.ts'
import { checkPackage, packContent, type PackageFile } from './skill-package.ts'

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

export interface Imported {
  readonly fullName: string
  readonly version: string
  /** False where the very same is there already. */
  readonly created: boolean
  readonly warnings: readonly Warning[]
}

/**
 * Publishes a version that was made elsewhere, under its author's name. What the source says wins over the
 * frontmatter. Importing the same again changes nothing. Throws `invalid_skill` as a publish does.
 */
export async function importVersion(context: Context, item: ImportedVersion, caller: Caller): Promise<Imported> {
  const { skillMd, files = [] } = item
  checkPackage({ skillMd, files })
  const given = {
    name: item.name,
    displayName: item.displayName,
    version: item.version,
    license: item.license,
    category: item.category,
  }
  const fields = readPackageFields(skillMd, given, { requestWins: true, describeFromBody: true })
  const content = await packContent({ skillMd, files })
  return context.database.writer.write(async (trx) => {
    const owner = await ensureNamespace(trx, item.owner, context.clock.now())
    const publication = {
      owner,
      publisher: owner,
      fields,
      content,
      settings: { category: fields.category, repository: item.repository },
      changelog: (item.changelog ?? '').replaceAll('\0', ''),
      publishedAt: item.publishedAt,
      imported: true,
    }
    const { skill, version, created } = await publishVersion(context, trx, publication, caller)
    return { fullName: skill.full_name, version: version.version, created, warnings: fields.warnings }
  })
}

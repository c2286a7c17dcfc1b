import type { Requires } from '@skillstead/protocol'
import { noRequires, readRequires } from '@skillstead/skill-format'
import { sql } from 'kysely'
import { parseJson, type VersionMetadata, type VersionRow } from '../../storage/tables.ts'

/** What a version requires, read from its stored metadata. */
export function readMetadataRequires({ frontmatter }: Pick<VersionMetadata, 'frontmatter'>): Requires {
  return readRequires({ frontmatter, keys: new Map() }).requires
}

/** The full name of a skill that an owner's skill requires. A name without an owner means a skill of the same owner. */
export function toMeantName(name: string, owner: string): string {
  return name.includes('/') ? name : `${owner}/${name}`
}

/** The value of the column `versions.requires`. */
export function toStoredRequires(requires: Requires): string {
  return Object.values(requires).every(({ length }) => length === 0) ? '' : JSON.stringify(requires)
}

/** The metadata of versions that were stored before the column `requires` existed, for {@link readStoredRequires}. */
export const requiresMetadata = sql<string | null>`case when versions.requires is null then versions.metadata end`

/** What a row of `versions` requires. `metadata` is needed only where `requires` is null. */
export function readStoredRequires({ requires, metadata }: Pick<VersionRow, 'requires'> & { metadata: string | null }) {
  if (requires === null)
    return metadata === null ? noRequires : readMetadataRequires(parseJson<VersionMetadata>(metadata))
  return requires === '' ? noRequires : parseJson(requires)
}

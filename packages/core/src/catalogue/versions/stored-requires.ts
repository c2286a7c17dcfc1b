import type { Requires } from '@skillstead/protocol'
import { noRequires, readRequires } from '@skillstead/skill-format'
import { parseJson, type VersionMetadata, type VersionRow } from '../../storage/tables.ts'

/** What a version requires, read from its stored metadata. */
export function readMetadataRequires({ frontmatter }: Pick<VersionMetadata, 'frontmatter'>): Requires {
  return readRequires({ frontmatter, keys: new Map() }).requires
}

/**
 * The name that a requirement of an owner's skill means. An optional one without an owner means a skill of the same owner
 * alone: authors also write names of packages there, which anyone may take for a skill.
 */
export function toMeantName({ name, optional }: Requires['skills'][number], owner: string): string {
  return optional && !name.includes('/') ? `${owner}/${name}` : name
}

/** The value of the column `versions.requires`. */
export function toStoredRequires(requires: Requires): string {
  return Object.values(requires).every(({ length }) => length === 0) ? '' : JSON.stringify(requires)
}

/** What a row of `versions` requires. `metadata` is needed only where `requires` is null. */
export function readStoredRequires({ requires, metadata }: Pick<VersionRow, 'requires'> & { metadata: string | null }) {
  if (requires === null)
    return metadata === null ? noRequires : readMetadataRequires(parseJson<VersionMetadata>(metadata))
  return requires === '' ? noRequires : parseJson(requires)
}

import type { CallOptions, Caller } from '@skillstead/core'
import {
  type Artifact,
  type Offer,
  type StorageContext,
  getBlob,
  hasPackSkill,
  type CatalogueContext,
  countAndAnswer,
  type DiscoveryScope,
  openShare,
  getPack,
  countDownload,
  getSkillVersion,
  readFileRows,
  readPackageFiles,
} from '@skillstead/core/internal'
import { type Content, RegistryError } from '@skillstead/protocol'
import { writeZip } from '@skillstead/skill-format/archives'

/** The location of an artifact: a file such as `pdf-1.4.0.zip` next to an index; in a pack, in the folder `owner`. */
export interface ArtifactPlace {
  readonly scope: DiscoveryScope
  readonly owner?: string
  readonly file: string
  /** Whether a skill that consists of SKILL.md alone is a zip, too, not a Markdown file. Default: false. */
  readonly zips?: boolean
}

/** A located artifact, whose bytes are not read yet. */
export interface FoundArtifact {
  /** A strong entity tag, quotes included. */
  readonly etag: string
  /** The total size of the files, in bytes. */
  readonly bytes: number
  /** Reads the bytes. Counts as a download unless `counts` is false. */
  read(options: Pick<CallOptions, 'counts' | 'client' | 'kind' | 'address'>): Promise<Content>
}

const contentTypes = { md: 'text/markdown; charset=utf-8', zip: 'application/zip' }

/** Finds an artifact that an index lists or listed. Throws `not_found` for others, and errors of reading the skill. */
export function findArtifact(context: CatalogueContext, place: ArtifactPlace, caller: Caller): Promise<FoundArtifact> {
  return countAndAnswer(context, () => findScopeArtifact(context, place, caller))
}

/** Parses the file name of an artifact, such as `pdf-1.4.0.zip`. */
export function parseArtifactFile(file: string): { name: string; version: string } | undefined {
  const [, name, version] = /^([a-z0-9-]+)-(\d+\.\d+\.\d+)\.(?:zip|md)$/.exec(file) ?? []
  return name === undefined || version === undefined ? undefined : { name, version }
}

/**
 * The permanent path of an artifact, relative to an index. Paths in a pack include the owner, because its skills have
 * several owners.
 */
export function toArtifactPath(scope: DiscoveryScope, { owner, name, version }: Offer, type: Artifact['type']): string {
  const file = `${name}-${version}.${type === 'archive' ? 'zip' : 'md'}`
  return scope.of === 'pack' ? `${owner}/${file}` : file
}

async function findScopeArtifact(
  context: CatalogueContext,
  place: ArtifactPlace,
  caller: Caller,
): Promise<FoundArtifact> {
  const parsed = parseArtifactFile(place.file)
  if (!parsed) throw noArtifact()
  const { name, version: number } = parsed
  const { fullName, reader, packId } = await findScopeSkill(context, place, name, caller)
  const { skill, version } = await getSkillVersion(context, { name: fullName, version: number }, reader)
  const { database } = context
  // Every version of a listed skill is served: a newer version may have been published since the client read the index.
  const isListed = packId === undefined || (await hasPackSkill(context, packId, skill.id))
  if (!isListed) throw noArtifact()
  const files = await readFileRows(database.read, version.id)
  const kind = files.length === 1 && !place.zips ? 'md' : 'zip'
  if (place.file !== `${name}-${number}.${kind}`) throw noArtifact()
  const filename = `${name}-${version.version}.${kind}`
  const etag = kind === 'md' ? `"${files[0]!.digest}"` : `"zip-${version.digest}"`
  return {
    etag,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    read: (options) =>
      countAndAnswer(context, async () => {
        const body =
          kind === 'md'
            ? await getBlob(database, files[0]!.digest)
            : writeZip(await readPackageFiles(database, version.id))
        countDownload(context, { skill, version }, reader, options)
        return { contentType: contentTypes[kind], body, etag, filename }
      }),
  }
}

async function findScopeSkill(context: StorageContext, { scope, owner }: ArtifactPlace, name: string, caller: Caller) {
  switch (scope.of) {
    case 'owner':
      return { fullName: `${scope.owner}/${name}`, reader: caller }
    case 'skill':
      if (name !== scope.name) throw noArtifact()
      return { fullName: `${scope.owner}/${name}`, reader: caller }
    case 'pack': {
      const { id } = await getPack(context, scope.slug, caller)
      return { fullName: `${owner}/${name}`, reader: caller, packId: id }
    }
    case 'share': {
      const { fullName, holder } = await openShare(context, scope.token)
      if (fullName.split('/')[1] !== name) throw noArtifact()
      return { fullName, reader: holder }
    }
  }
}

function noArtifact(): RegistryError {
  return new RegistryError('not_found', 'This index does not list the file.')
}

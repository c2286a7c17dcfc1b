import { toShortName } from '@skillstead/protocol'
import { createHash } from 'node:crypto'
import type { ArchiveFile } from '@skillstead/skill-format/archives'
import type { Pack } from '../scopes/skill-archives.ts'
import { writeTarGzip } from '../scopes/tar-gzip.ts'

/** Bytes with their digest, `sha256:...`. */
export interface Blob {
  readonly digest: string
  readonly bytes: Buffer
}

/** A version as an OCI artifact. */
export interface Artifact {
  readonly version: string
  readonly manifest: Blob
  readonly config: Blob
  readonly layer: Layer
}

/** The archive with the files of a version. */
export interface Layer {
  readonly digest: string
  readonly size: number
}

/**
 * The fields of a version that its manifest and config contain. None of them can change later, because clients pin the
 * digest of the manifest.
 */
export interface ArtifactSource {
  readonly name: string
  readonly version: string
  readonly publishedAt: string
  readonly frontmatter: Readonly<Record<string, unknown>>
}

export const manifestType = 'application/vnd.oci.image.manifest.v1+json'

/**
 * The media types of the Agent Skills OCI Artifacts Specification 0.1.0, which skills-oci and other installers support:
 * https://github.com/ThomasVitale/agents-skills-oci-artifacts-spec
 */
const artifactType = 'application/vnd.agentskills.skill.v1'
const configType = 'application/vnd.agentskills.skill.config.v1+json'
const layerType = 'application/vnd.agentskills.skill.content.v1.tar+gzip'

/** Writes the manifest and the config of a version. */
export function writeArtifact(source: ArtifactSource, layer: Layer): Artifact {
  const { name, version, publishedAt, frontmatter } = source
  const description = toAnnotationText(frontmatter['description'])
  const license = toAnnotationText(frontmatter['license'])
  const compatibility = toAnnotationText(frontmatter['compatibility'])
  const config = toBlob({
    schemaVersion: '1',
    name,
    version,
    ...(description && { description }),
    ...(license && { license }),
    ...(compatibility && { compatibility }),
  })
  const manifest = toBlob({
    schemaVersion: 2,
    mediaType: manifestType,
    artifactType,
    config: { mediaType: configType, digest: config.digest, size: config.bytes.length },
    layers: [
      {
        mediaType: layerType,
        digest: layer.digest,
        size: layer.size,
        // ORAS unpacks the archive into the folder of this name.
        annotations: { 'org.opencontainers.image.title': name, 'io.deis.oras.content.unpack': 'true' },
      },
    ],
    annotations: {
      'org.opencontainers.image.title': name,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.created': publishedAt,
      ...(description && { 'org.opencontainers.image.description': description }),
      ...(license && { 'org.opencontainers.image.licenses': license }),
      'io.agentskills.skill.name': name,
      ...(compatibility && { 'io.agentskills.skill.compatibility': compatibility }),
    },
  })
  return { version, manifest, config, layer }
}

const mtime = new Date(0)

/** Writes an archive with the files of a version, below a folder with the name of the skill. */
export function writeLayer(
  { fullName }: Pick<Pack, 'fullName'>,
  files: readonly ArchiveFile[],
): Promise<Uint8Array<ArrayBuffer>> {
  const root = toShortName(fullName)
  const entries = files.map((file) => ({ ...file, path: `${root}/${file.path}` }))
  // Folders are entries of their own, because some clients create only folders that the archive contains.
  const folders = new Set(entries.flatMap(({ path }) => listFolders(path)))
  const all = [...entries, ...Array.from(folders, (path) => ({ path, bytes: new Uint8Array() }))]
  return writeTarGzip(
    // A folder sorts before its content, because its path is the beginning of the paths in it.
    all.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    mtime,
  )
}

/** The folders that contain a path: `a/`, `a/b/` for `a/b/c`. */
function listFolders(path: string): string[] {
  return Array.from(path.matchAll(/\//g), ({ index }) => path.slice(0, index + 1))
}

function toBlob(document: unknown): Blob {
  const bytes = Buffer.from(JSON.stringify(document))
  return { digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`, bytes }
}

/** The text of a frontmatter field; empty if its value is not a text. */
function toAnnotationText(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

import { toRecalledError } from '@skillstead/core/internal'
import { RegistryError, type SkillDetails, toShortName } from '@skillstead/protocol'
import { LRUCache } from 'lru-cache'
import type { Answer, GatewayCall, GatewayHost } from '../gateway.ts'
import { apiOf, createSkillArchives } from '../scopes/skill-archives.ts'
import { writeArtifact, writeLayer, type Artifact } from './write-artifact.ts'

/** A skill as the caller of the request may read it. */
export interface Repository {
  /** `owner/name` as the client requested it. */
  readonly fullName: string
  readonly skill: SkillDetails
}

/** The OCI artifacts of skills. Each artifact is written again when it is requested; only its digests are cached. */
export interface Artifacts {
  /**
   * The artifact of a version, yanked or not; undefined if there is none that the caller may read. Throws `recalled`
   * for a recalled version, as all functions here do.
   */
  findByVersion(call: GatewayCall, repository: Repository, version: string): Promise<Artifact | undefined>
  /** The artifact whose manifest has this digest. Throws `overloaded` if the search takes too long. */
  findByManifest(call: GatewayCall, repository: Repository, digest: string): Promise<Artifact | undefined>
  /** The artifact whose config or layer has this digest. Throws `overloaded` if the search takes too long. */
  findByBlob(call: GatewayCall, repository: Repository, digest: string): Promise<Artifact | undefined>
  /** Answers with the layer of a version. Counts as a download. */
  answerLayer(call: GatewayCall, repository: Repository, version: string): Promise<Answer>
}

interface Digests {
  readonly manifest: string
  readonly config: string
  readonly layer: string
}

type ListedVersion = SkillDetails['versions'][number]

/**
 * Maximum size and number of the versions that a request reads in search of a digest. The computed digests stay cached,
 * so that the next request continues the search.
 */
const searchedBytesMax = 128 * 1024 * 1024
const searchedVersionsMax = 200
/** Size of the cache of digests, with room for about 16,000 versions. */
const cacheBytesMax = 8 * 1024 * 1024
const digestsBytes = 400

export function createOciArtifacts(host: GatewayHost): Artifacts {
  const archives = createSkillArchives(host, {
    contentType: 'application/octet-stream',
    extension: 'tar.gz',
    hashes: ['SHA-256'],
    write: writeLayer,
  })
  const cached = new LRUCache<string, Digests>({
    maxSize: cacheBytesMax,
    sizeCalculation: (_, key) => digestsBytes + key.length,
  })

  async function build(call: GatewayCall, repository: Repository, listed: ListedVersion) {
    const { fullName } = repository
    const { version, digest, publishedAt } = listed
    const facts = await archives.measure(call, { fullName, version, digest })
    if (!facts) return undefined
    const { frontmatter } = await apiOf(host, call, { counts: false }).getSkill({ name: fullName, version })
    const name = toShortName(fullName)
    const layer = { digest: `sha256:${facts.hashes[0]!.toString('hex')}`, size: facts.bytes }
    const artifact = writeArtifact({ name, version, publishedAt, frontmatter }, layer)
    const { manifest, config } = artifact
    cached.set(toArtifactKey(repository, listed), {
      manifest: manifest.digest,
      config: config.digest,
      layer: layer.digest,
    })
    return artifact
  }

  async function serve(call: GatewayCall, repository: Repository, listed: ListedVersion) {
    refuseRecalledArtifact(repository, listed)
    return build(call, repository, listed)
  }

  /** Searches the cached digests first, and then the other versions, highest first. */
  async function search(call: GatewayCall, repository: Repository, isWanted: (digests: Digests) => boolean) {
    const { versions } = repository.skill
    const others: ListedVersion[] = []
    for (const listed of versions) {
      const digests = cached.get(toArtifactKey(repository, listed))
      if (!digests) others.push(listed)
      else if (isWanted(digests)) return serve(call, repository, listed)
    }
    let bytesLeft = searchedBytesMax
    for (const [index, listed] of others.entries()) {
      if (bytesLeft <= 0 || index === searchedVersionsMax)
        throw new RegistryError('overloaded', 'The node is still computing the digests of this skill. Try again.', {
          retryAfterSeconds: 1,
        })
      const artifact = await build(call, repository, listed)
      bytesLeft -= artifact?.layer.size ?? 0
      if (!artifact) continue
      const { manifest, config, layer } = artifact
      if (isWanted({ manifest: manifest.digest, config: config.digest, layer: layer.digest })) {
        refuseRecalledArtifact(repository, listed)
        return artifact
      }
    }
    return undefined
  }

  return {
    async findByVersion(call, repository, version) {
      const listed = repository.skill.versions.find((one) => one.version === version)
      return listed && serve(call, repository, listed)
    },
    findByManifest: (call, repository, digest) => search(call, repository, ({ manifest }) => manifest === digest),
    findByBlob: (call, repository, digest) =>
      search(call, repository, ({ config, layer }) => config === digest || layer === digest),
    answerLayer: (call, { fullName }, version) => archives.answer(call, fullName, version),
  }
}

function refuseRecalledArtifact({ fullName }: Repository, { version, recalled }: ListedVersion): void {
  if (recalled) throw toRecalledError(`${fullName}@${version}`, recalled)
}

function toArtifactKey({ fullName }: Repository, { version, digest, publishedAt }: ListedVersion): string {
  return `${fullName}@${version} ${digest} ${publishedAt}`
}

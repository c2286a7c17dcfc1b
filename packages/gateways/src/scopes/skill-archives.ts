import { localApi } from '@skillstead/core'
import { toRecalledError } from '@skillstead/core/internal'
import { isOfferedVersion, type RegistryApi, type SkillDetails, orUndefined, toShortName } from '@skillstead/protocol'
import { readArchiveFiles, type ArchiveFile } from '@skillstead/skill-format/archives'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { toCacheControl, type Answer, type GatewayCall, type GatewayHost } from '../gateway.ts'

/** A version of a skill that is written as an archive for another ecosystem. */
export interface Pack {
  /** `owner/name` as the client requested it: archives contain the name, and a transfer must not change their bytes. */
  readonly fullName: string
  readonly version: string
  /** The digest of the version. */
  readonly digest: string
}

/** The form of the archives of a protocol, which differ from the published files only in generated metadata. */
export interface ArchiveForm {
  readonly contentType: string
  readonly extension: string
  /** The algorithms whose hashes a list of versions contains. */
  readonly hashes: readonly ('SHA-1' | 'SHA-256' | 'SHA-512')[]
  /**
   * Writes an archive. The bytes depend on the arguments alone, and must not change with releases of this program: lock
   * files of clients contain the archive's hash.
   */
  write(pack: Pack, files: readonly ArchiveFile[]): Promise<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer>
}

/** The facts about an archive in a list of versions. */
interface ArchiveFacts {
  /** The hashes in the order of {@link ArchiveForm.hashes}. */
  readonly hashes: readonly Buffer[]
  /** The size of the archive in bytes. */
  readonly bytes: number
}

/** A version that clients may choose. `facts`: undefined beyond the limit of {@link SkillArchives.describe}. */
export interface DescribedVersion {
  readonly version: string
  readonly digest: string
  readonly publishedAt: string
  readonly facts: ArchiveFacts | undefined
}

export interface SkillArchives {
  /**
   * The versions of a skill that clients may choose, highest first, without yanked, recalled and quarantined versions.
   * Archives are built for the highest versions, until these have {@link describedBytesMax} bytes together.
   */
  describe(call: GatewayCall, fullName: string, skill: SkillDetails): Promise<DescribedVersion[]>
  /** The facts of one version, which may be yanked or recalled. Undefined if the caller may not read its files. */
  measure(call: GatewayCall, pack: Pack): Promise<ArchiveFacts | undefined>
  /** Answers with a version's archive, yanked or not, and counts a download. Throws `recalled` for a recalled one. */
  answer(call: GatewayCall, fullName: string, version: string): Promise<Answer>
}

/** Maximum size of the archives that are built for a list: 128 MiB take about a second, once per process. */
const describedBytesMax = 128 * 1024 * 1024
const versionsMax = 1000
/** Size of the cache of facts. Facts take about 500 bytes, so the cache has room for about 16,000 versions. */
const cacheBytesMax = 8 * 1024 * 1024
const factsBytes = 400

/** Creates the archives of a protocol. Their facts are computed once per process, and cached by version and digest. */
export function createSkillArchives(host: GatewayHost, form: ArchiveForm): SkillArchives {
  const cached = new LRUCache<string, ArchiveFacts>({
    maxSize: cacheBytesMax,
    sizeCalculation: (_, key) => factsBytes + key.length,
  })
  // One archive at a time, so that concurrent callers share the results, and memory is bounded.
  const inTurn = pLimit(1)

  async function measure(api: RegistryApi, pack: Pack): Promise<ArchiveFacts | undefined> {
    const key = `${pack.fullName}@${pack.version} ${pack.digest}`
    const known = cached.get(key)
    if (known) return known
    return inTurn(async () => {
      const meanwhile = cached.get(key)
      if (meanwhile) return meanwhile
      // Undefined for a version whose files may not be read.
      const files = await orUndefined(readPackFiles(api, pack, { allowRecalled: true }), 'not_found')
      if (!files) return undefined
      const bytes = await form.write(pack, files)
      const facts = {
        hashes: await Promise.all(form.hashes.map((name) => hashArchive(name, bytes))),
        bytes: bytes.length,
      }
      cached.set(key, facts)
      return facts
    })
  }

  return {
    async describe(call, fullName, { versions }) {
      const api = apiOf(host, call, { counts: false })
      const described: DescribedVersion[] = []
      let bytesLeft = describedBytesMax
      for (const listed of versions.slice(0, versionsMax)) {
        if (!isOfferedVersion(listed)) continue
        const { version, digest, publishedAt } = listed
        const isWithin = bytesLeft > 0
        const facts = isWithin ? await measure(api, { fullName, version, digest }) : undefined
        // Leaves out a version whose files may no longer be read, because it cannot be installed.
        if (isWithin && !facts) continue
        bytesLeft -= facts?.bytes ?? 0
        described.push({ version, digest, publishedAt, facts })
      }
      return described
    },
    measure: (call, pack) => measure(apiOf(host, call, { counts: false }), pack),
    async answer(call, fullName, version) {
      const { digest, size, recalled } = await apiOf(host, call, { counts: false }).getVersion({
        name: fullName,
        version,
      })
      if (recalled) throw toRecalledError(`${fullName}@${version}`, recalled)
      const etag = `"${form.extension}-${digest}"`
      const known: Answer = { status: 200, body: null, etag, cacheControl: toCacheControl(call) }
      if (host.isKnown(call, etag)) return known
      if (call.method === 'HEAD') return { ...known, contentType: form.contentType }
      await host.spendBytes(call, size)
      // Memory for the files, for the parts of the archive, and for the whole archive.
      return host.holding(call, 3 * size, async () => {
        const pack = { fullName, version, digest }
        const body = await form.write(pack, await readPackFiles(apiOf(host, call, { counts: true }), pack))
        const filename = `${toShortName(fullName)}-${version}.${form.extension}`
        const content = host.toContentAnswer({ contentType: form.contentType, body, etag, filename })
        return { status: 200, cacheControl: toCacheControl(call), ...content }
      })
    },
  }
}

/** The API as the caller of a request sees it. `counts`: whether reading an archive counts as a download. */
export function apiOf(host: GatewayHost, call: GatewayCall, { counts }: { readonly counts: boolean }): RegistryApi {
  return counts ? host.api(call) : localApi(host.registry, call.caller, { counts })
}

async function readPackFiles(
  api: RegistryApi,
  { fullName, version }: Pack,
  { allowRecalled = false } = {},
): Promise<readonly ArchiveFile[]> {
  const { body } = await api.getArchive({ name: fullName, version, allowRecalled })
  return readArchiveFiles(body as Uint8Array, 'zip')
}

/** Hashes an archive by Web Crypto, which uses another thread: hashing 16 MiB here would block the event loop. */
async function hashArchive(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<Buffer> {
  return Buffer.from(await crypto.subtle.digest(name, bytes))
}

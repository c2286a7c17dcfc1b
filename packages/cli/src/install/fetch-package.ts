import { type ContentFile, toContentDigest } from '@skillstead/client/verify'
import { toOneLine, type Recalled, type RegistryApi, toErrorText } from '@skillstead/protocol'
import { readBytes } from '@skillstead/skill-format/archives'
import { unpackPackage, type PackageCache } from './cache.ts'
import { type Say, waitForTurn } from './offer.ts'

/** A version and the digest that its content must have. */
export interface Wanted {
  readonly fullName: string
  readonly version: string
  readonly digest: string
  /** Set for a recalled version, which is then requested in spite of its recall. */
  readonly recalled?: Recalled | undefined
}

/** Downloads a version, verifies its digest and caches it. Throws if the digest differs. */
export async function fetchPackage(api: RegistryApi, wanted: Wanted, cache: PackageCache, say: Say): Promise<void> {
  const { zip } = await downloadPackage(api, wanted, say)
  const reason = cache.keep(wanted.digest, zip)
  if (reason) say(`${wanted.fullName} could not be cached: ${reason}`)
}

/** Downloads a version and verifies its digest. Throws if the digest differs. */
export async function downloadPackage(api: RegistryApi, wanted: Wanted, say: Say) {
  const { fullName, version, digest, recalled } = wanted
  const allowRecalled = recalled !== undefined
  const content = await waitForTurn(() => api.getArchive({ name: fullName, version, allowRecalled }), say)
  const zip = await readBytes(content)
  const files = await readOf(wanted, zip)
  const actual = toContentDigest(files)
  if (actual === digest) return { zip, files }
  throw new Error(
    `The download of ${fullName}@${version} has the wrong content: its digest is ${actual}, expected ${digest}. ` +
      'Nothing was changed. It may have been altered on the way; ask the operator of the registry.',
  )
}

async function readOf({ fullName, version }: Wanted, zip: Uint8Array): Promise<ContentFile[]> {
  try {
    return await unpackPackage(zip)
  } catch (error) {
    const reason = toOneLine(toErrorText(error))
    throw new Error(`The package of ${fullName}@${version} was refused. ${reason} Nothing was changed.`, {
      cause: error,
    })
  }
}

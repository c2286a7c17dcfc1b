import { toContentDigest, type ContentFile } from '@skillstead/client/verify'
import { readBytes } from '@skillstead/skill-format/archives'
import type { RegistryApi } from '@skillstead/protocol'
import { toOneLine } from '../output.ts'
import type { PackageCache } from './cache.ts'
import { waitForTurn, type Say } from './offer.ts'
import { readPackage } from './package.ts'

/** A version by what its content must be. */
export interface Wanted {
  readonly fullName: string
  readonly version: string
  readonly digest: string
}

/** Downloads a version, and keeps it in the cache once it is what it should be; throws before that where it is not. */
export async function fetchPackage(api: RegistryApi, wanted: Wanted, cache: PackageCache, say: Say): Promise<void> {
  const { fullName, version, digest } = wanted
  const content = await waitForTurn(() => api.getArchive({ name: fullName, version }), say)
  const zip = await readBytes(content)
  const files = await readOf(wanted, zip)
  const actual = toContentDigest(files)
  if (actual === digest) {
    const reason = cache.keep(digest, zip)
    if (reason) say(`${fullName} could not be kept in the cache: ${reason}`)
    return
  }
  throw new Error(
    `What came for ${fullName}@${version} is not that version: its digest is ${actual}, and ${digest} was promised. ` +
      'Nothing was changed. Somebody may have altered it on the way; ask the operator of the registry.',
  )
}

async function readOf({ fullName, version }: Wanted, zip: Uint8Array): Promise<ContentFile[]> {
  try {
    return await readPackage(zip)
  } catch (error) {
    const reason = toOneLine((error as Error).message)
    throw new Error(`The package that came for ${fullName}@${version} was refused. ${reason} Nothing was changed.`, {
      cause: error,
    })
  }
}

import { toOneLine, toErrorText } from '@skillstead/protocol'
import type { Registry, ScanPolicy } from '@skillstead/core'
import { createMirror, type Mirror, type MirrorOptions } from '@skillstead/mirror'
import { flag, type Arguments } from '../command/command.ts'
import { findStorageSentence } from '../registry/failure-sentences.ts'
import { toStoreLocation, withRegistry } from '../registry/place.ts'
import { toOutgoing } from '../registry/outgoing-options.ts'
import { toLogOrigin } from '../registry/registry-options.ts'
import { toSecretKey } from '../registry/secret-key.ts'
import { createOutput } from '../terminal/output.ts'
import { toNetworkMode, toPrivateNames } from './options.ts'

interface WithMirrorOptions {
  /** Whether a missing folder is created. */
  readonly make?: boolean
  readonly scanPolicy?: ScanPolicy
}

/** Opens the mirror of the registry that the options name, runs `work`, and closes it again. */
export async function withMirror<T>(
  given: Arguments,
  work: (mirror: Mirror, registry: Registry) => Promise<T>,
  { make = false, scanPolicy, ...options }: MirrorOptions & WithMirrorOptions = {},
): Promise<T> {
  const parts = { ...(await toMirrorOptions(given)), onError: toErrorLog(given), ...options }
  // Without `make`, throw for a folder without a registry before anything is created in it.
  const { makePrivateFolder } = await import('@skillstead/core/internal')
  toStoreLocation(given, make ? { make: makePrivateFolder } : {})
  return withRegistry(
    given,
    async (registry) => {
      const mirror = createMirror(registry, parts)
      try {
        return await work(mirror, registry)
      } finally {
        await mirror.close()
      }
    },
    { make, scanPolicy, origin: toLogOrigin(given), secretKey: toSecretKey(given) },
  )
}

/** Prints background errors of a command as one line; silent with --json, which prints only the command's own error. */
function toErrorLog(given: Arguments): (error: unknown) => void {
  if (flag(given, 'json')) return () => undefined
  const { warn } = createOutput(given.io, false)
  return (error) => warn(toOneLine(findStorageSentence(error) ?? toErrorText(error)))
}

/** The network options. Throws {@link UsageError}. */
export async function toMirrorOptions(given: Arguments): Promise<MirrorOptions> {
  const { ca, proxy } = await toOutgoing(given)
  return {
    mode: toNetworkMode(given),
    privateNames: toPrivateNames(given),
    ca: [...(ca ?? [])],
    proxy,
  }
}

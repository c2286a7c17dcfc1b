import type { Registry, ScanPolicy } from '@skillstead/core'
import { createMirror, type Mirror, type MirrorOptions } from '@skillstead/mirror'
import { flag, type Arguments } from '../command.ts'
import { toOutgoing } from '../outgoing-options.ts'
import { createOutput, toOneLine } from '../output.ts'
import { toOrigin } from '../origin-option.ts'
import { toLocation, withRegistry } from '../place.ts'
import { toSecretKey } from '../secret-key.ts'
import { findStorageSentence } from '../storage-sentence.ts'
import { toNetworkMode, toPrivateNames } from './options.ts'

interface WithMirrorOptions {
  /** Whether a folder that is not there is made. */
  readonly make?: boolean
  readonly scanPolicy?: ScanPolicy
}

/** The mirror of the registry that the options name, for the length of some work. */
export async function withMirror<T>(
  given: Arguments,
  work: (mirror: Mirror, registry: Registry) => Promise<T>,
  { make = false, scanPolicy, ...options }: MirrorOptions & WithMirrorOptions = {},
): Promise<T> {
  const parts = { ...(await toMirrorOptions(given)), onError: toTell(given), ...options }
  // Where there is no registry, nothing is made beside it.
  const { makePrivateFolder } = await import('@skillstead/core')
  toLocation(given, make ? { make: makePrivateFolder } : {})
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
    { make, scanPolicy, origin: toOrigin(given), secretKey: toSecretKey(given) },
  )
}

/** What goes wrong beside a command, in a line; with --json there is only the one of the command itself. */
function toTell(given: Arguments): (error: unknown) => void {
  if (flag(given, 'json')) return () => undefined
  const { warn } = createOutput(given.io, false)
  return (error) =>
    warn(toOneLine(findStorageSentence(error) ?? (error instanceof Error ? error.message : String(error))))
}

/** How the options say that upstreams are asked. Throws a UsageError. */
export async function toMirrorOptions(given: Arguments): Promise<MirrorOptions> {
  return {
    mode: toNetworkMode(given),
    privateNames: toPrivateNames(given),
    ca: [...((await toOutgoing(given)).ca ?? [])],
  }
}

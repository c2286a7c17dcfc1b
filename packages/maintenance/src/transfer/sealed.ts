import type { Kysely } from 'kysely'
import { createSecrets, type Tables } from '@skillstead/core/internal'

/** API keys for upstreams that a registry holds, sealed with a secret key that no backup and no export has. */
export interface SealedKeys {
  readonly count: number
  /** Whether the secret key that was given opens them; null where none was given, or there is nothing to open. */
  readonly isOpened: boolean | null
}

/** How many there are, and whether a secret key is the one for them. */
export async function readSealedKeys(db: Kysely<Tables>, secretKey?: Uint8Array): Promise<SealedKeys> {
  const upstreams = await db.selectFrom('upstreams').select('credential').where('credential', 'is not', null).execute()
  const links = await db.selectFrom('upstream_links').select('credential').execute()
  const sealed = [...upstreams, ...links].flatMap(({ credential }) => (credential ? [credential] : []))
  const { open } = createSecrets(secretKey)
  const isOpened = secretKey && sealed.length > 0 ? sealed.every((one) => opens(open, one)) : null
  return { count: sealed.length, isOpened }
}

function opens(open: (sealed: Uint8Array) => string, sealed: Uint8Array): boolean {
  try {
    open(sealed)
    return true
  } catch {
    return false
  }
}

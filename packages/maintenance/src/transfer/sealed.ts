import { sql, type Kysely } from 'kysely'
import { createSecrets, type SchemaExtension, type Tables } from '@skillstead/core/internal'

/** A registry's API keys for upstreams, sealed with a secret key that is in no backup or export. */
export interface SealedKeys {
  readonly count: number
  /** Whether the given secret key opens them; null without a key, or if there is nothing to open. */
  readonly isOpened: boolean | null
}

/** Counts the sealed keys, and checks whether a secret key opens them. */
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

import { attempt } from '@skillstead/protocol'
import { sql, type Kysely } from 'kysely'
import { createSecrets, type SchemaExtension, type Tables } from '@skillstead/core/internal'

/** A registry's API keys for upstreams, sealed with a secret key that is in no backup or export. */
export interface SealedKeys {
  readonly count: number
  /** Whether the given secret key opens the API keys; null without a secret key, or if there are no API keys. */
  readonly isOpened: boolean | null
}

/** Counts the sealed keys in the tables of the extensions, and checks whether a secret key opens them. */
export async function readSealedKeys(
  db: Kysely<Tables>,
  extensions: readonly Pick<SchemaExtension, 'tables'>[],
  secretKey?: Uint8Array,
): Promise<SealedKeys> {
  const sealed: Uint8Array[] = []
  for (const [table, { sealed: column }] of extensions.flatMap(({ tables }) => Object.entries(tables))) {
    if (column === undefined) continue
    const { rows } = await sql<{ value: Uint8Array }>`select ${sql.ref(column)} as value from ${sql.table(table)}
      where ${sql.ref(column)} is not null`.execute(db)
    sealed.push(...rows.map(({ value }) => value))
  }
  const { open } = createSecrets(secretKey)
  const isOpened = secretKey && sealed.length > 0 ? sealed.every((one) => attempt(() => open(one)) !== undefined) : null
  return { count: sealed.length, isOpened }
}

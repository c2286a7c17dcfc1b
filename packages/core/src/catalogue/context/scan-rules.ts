import { toRulesVersion, type AddedRules } from '@skillstead/scanner'
import type { Kysely } from 'kysely'
import type { ChangeFollower } from '../../log/change-follower.ts'
import type { Database } from '../../storage/database.ts'
import { findMeta, putMeta, removeMeta } from '../../storage/meta.ts'
import { parseJson, type Tables } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'

const rulesMetaKey = 'rules.bundle'

/** A bundle of rules that the nodes of a database apply in addition to the built-in rules. */
export interface InstalledBundle extends Pick<AddedRules, 'id'> {
  /** The document of the rules as a signed note. */
  readonly note: string
  readonly release: number
  /** `YYYY-MM-DD` */
  readonly date: string
  /** The keys that signed the bundle, as `<name>+<hash>`. */
  readonly signers: readonly string[]
}

/** Where a node gets its bundle of rules. */
export interface StoredRules {
  /** The URL or the file of the bundle. */
  readonly source: string
  /** The verifier keys. One of the keys must have signed the bundle. */
  readonly keys: readonly string[]
  readonly bundle: InstalledBundle
  /** The time of the last check of the source, in milliseconds since 1970, and the reason if the check failed. */
  readonly checkedAt: number
  readonly error: string | null
}

/** The rules that this process applies. */
export interface ScanRules {
  /** Identifies the rules. Versions with a report of other rules are scanned again. */
  readonly version: string
  /** The rules of the installed bundle. */
  readonly added: AddedRules | undefined
}

/** Loads the installed bundle, and again each time the bundle changes (within a second for changes on other nodes). */
export async function createScanRules({ read }: Database, changes: ChangeFollower): Promise<ScanRules> {
  let added: AddedRules | undefined

  async function load(): Promise<void> {
    added = toAdded((await findRules(read))?.bundle)
  }

  changes.follow(async (batch) => {
    if (batch.some(({ kind }) => kind === 'rules')) await load()
  }, load)
  await load()
  return {
    get version() {
      return toRulesVersion(added)
    },
    get added() {
      return added
    },
  }
}

/** The rules of a bundle; the signatures of a note follow its last empty line. */
function toAdded(bundle: InstalledBundle | undefined): AddedRules | undefined {
  return bundle && { id: bundle.id, text: bundle.note.slice(0, bundle.note.lastIndexOf('\n\n') + 1) }
}

/** The installed bundle of rules and its source; undefined if no bundle is installed. */
export async function findRules(db: Kysely<Tables>): Promise<StoredRules | undefined> {
  const stored = await findMeta(db, rulesMetaKey)
  return stored === undefined ? undefined : parseJson<StoredRules>(stored)
}

/** Stores the bundle and its source. */
export async function putRules(trx: WriteTransaction, rules: StoredRules): Promise<void> {
  await putMeta(trx, rulesMetaKey, JSON.stringify(rules))
}

/** Removes the bundle and its source. */
export async function deleteRules(trx: WriteTransaction): Promise<void> {
  await removeMeta(trx, rulesMetaKey)
}

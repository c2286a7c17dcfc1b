import type { MirrorContext } from '../run.ts'
import { getCaller, type StorageContext } from '@skillstead/core/internal'
import { createClient } from '@skillstead/client'
import { writableKinds } from '../queue/upstream-write.ts'
import { RegistryError, isUsername } from '@skillstead/protocol'
import { requireApiKey } from '../settings.ts'
import { getUpstream } from '../store/upstreams.ts'
import type { Upstream } from '../types.ts'
import type { LinkedAccount } from '../write-types.ts'
import type { UpstreamFetch } from '../upstream-fetch.ts'
import { toStoredProblem } from './problems.ts'
import { withUpstreams, selectLink } from '../tables/mirror-tables.ts'

/** The parts that the functions for linked accounts need. */
export interface AccountParts {
  readonly context: MirrorContext
  /** The HTTP client of an upstream; its requests throw `offline` in offline mode. */
  httpOf(upstream: Upstream): UpstreamFetch
}

/**
 * Links a user's account at an upstream: stores the user's API key, encrypted, with which the user's writes are sent.
 * Requests the username from the upstream; if the upstream does not respond, a later write requests it. Throws
 * `not_found`, `invalid_request` for a key that the upstream rejects, and `conflict` if this node has no secret key.
 */
export async function linkAccount(
  parts: AccountParts,
  given: { user: string; upstream: string; key: string },
): Promise<LinkedAccount> {
  const { context } = parts
  const { userId } = await getCaller(context, given.user)
  const upstream = await getUpstream(context.database.read, given.upstream)
  if (!writableKinds.has(upstream.kind)) {
    throw new RegistryError(
      'invalid_request',
      `'${upstream.name}' is an upstream of kind ${upstream.kind}, which has no accounts.`,
    )
  }
  requireApiKey(given.key)
  const credential = context.secrets.seal(given.key)
  const username = await askUsername(parts, upstream, given.key)
  const at = context.clock.now()
  const row = { user_id: userId, upstream: upstream.name, username: username ?? '', credential, created_at: at }
  await context.database.writer.write((trx) =>
    withUpstreams(trx)
      .insertInto('upstream_links')
      .values(row)
      .onConflict((conflict) => conflict.columns(['user_id', 'upstream']).doUpdateSet(row))
      .execute(),
  )
  return { user: given.user, upstream: upstream.name, username, createdAt: at }
}

/**
 * Deletes a user's API key for an upstream. Writes that need it stay pending until the user links another key or the
 * writes are dropped. Throws `not_found`.
 */
export async function unlinkAccount(context: StorageContext, user: string, upstream: string): Promise<void> {
  const { userId } = await getCaller(context, user)
  const { numDeletedRows } = await context.database.writer.write((trx) =>
    withUpstreams(trx)
      .deleteFrom('upstream_links')
      .where('user_id', '=', userId)
      .where('upstream', '=', upstream)
      .executeTakeFirstOrThrow(),
  )
  if (numDeletedRows === 0n) throw new RegistryError('not_found', `${user} has not linked an account at '${upstream}'.`)
}

/** Lists the linked accounts by upstream and user, without their API keys. */
export async function listAccounts({ database }: StorageContext): Promise<LinkedAccount[]> {
  const rows = await withUpstreams(database.read)
    .selectFrom('upstream_links')
    .innerJoin('users', 'users.id', 'upstream_links.user_id')
    .select(['users.username as user', 'upstream', 'upstream_links.username', 'upstream_links.created_at'])
    .orderBy('upstream')
    .orderBy('users.username')
    .execute()
  return rows.map(({ username, created_at: createdAt, ...row }) => ({ ...row, username: username || null, createdAt }))
}

/** A linked account with its decrypted key. */
export interface OpenAccount {
  readonly key: string
  readonly username: string | null
}

/**
 * The linked account of a user; undefined if there is none. If its username is still unknown, asks the upstream again.
 */
export async function openAccount(
  parts: AccountParts,
  upstream: Upstream,
  userId: string,
): Promise<OpenAccount | undefined> {
  const { secrets, database } = parts.context
  const query = selectLink(database.read, upstream.name, userId).select(['username', 'credential'])
  const link = await query.executeTakeFirst()
  if (!link) return undefined
  const key = openKey(() => secrets.open(link.credential))
  if (link.username) return { key, username: link.username }
  const username = await askUsername(parts, upstream, key)
  if (username === null) return { key, username }
  await database.writer.write((trx) =>
    withUpstreams(trx)
      .updateTable('upstream_links')
      .set({ username })
      .where('user_id', '=', userId)
      .where('upstream', '=', upstream.name)
      .execute(),
  )
  return { key, username }
}

/** Seconds after which a write is retried if the node has no secret key. */
const secretRetrySeconds = 60

/**
 * Decrypts an API key. If the node was started without its secret key, throws a temporary error, so that writes stay
 * pending until the node is started with it.
 */
export function openKey<T>(open: () => T): T {
  try {
    return open()
  } catch (cause) {
    if (!(cause instanceof RegistryError)) throw cause
    throw new RegistryError('conflict', cause.message, { retryAfterSeconds: secretRetrySeconds, cause })
  }
}

/**
 * Requests the username of an API key. Null if the upstream is unreachable or has no endpoint for it. Throws
 * `invalid_request` for a key that the upstream rejects.
 */
async function askUsername({ httpOf }: AccountParts, upstream: Upstream, key: string): Promise<string | null> {
  try {
    const { fetch } = httpOf(upstream)
    const { username } = await createClient({ baseUrl: upstream.location, apiKey: key, fetch, retries: 0 }).getMe({})
    // Checked because the username is displayed and becomes part of full names.
    return isUsername(username) ? username : null
  } catch (error) {
    const { code, isTemporary } = toStoredProblem(error, 0)
    if (isTemporary || code === 'not_found' || code === 'method_not_allowed') return null
    if (code !== 'unauthorized') throw error
    throw new RegistryError(
      'invalid_request',
      `'${upstream.name}' rejects this API key. Create a key there and pass that one.`,
    )
  }
}

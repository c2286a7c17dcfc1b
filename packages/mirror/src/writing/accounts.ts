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
import { toProblem } from './problems.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** What linking works with. */
export interface AccountParts {
  readonly context: MirrorContext
  /** The way to an upstream; throws `offline` when it is used in offline mode. */
  httpOf(upstream: Upstream): UpstreamFetch
}

/**
 * Keeps the API key that a user has at an upstream, sealed; what the user publishes goes there with it. The upstream is
 * asked whose key it is, later where it does not answer. Throws `not_found`, `invalid_request` for a key that it does
 * not know, `conflict` where this node has no secret key.
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
      `'${upstream.name}' is a ${upstream.kind}, at which nobody has an account.`,
    )
  }
  requireApiKey(given.key)
  const credential = context.secrets.seal(given.key)
  const username = await askWho(parts, upstream, given.key)
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

/** Forgets the key. What waits with it waits until another is given, or it is dropped. Throws `not_found`. */
export async function unlinkAccount(context: StorageContext, user: string, upstream: string): Promise<void> {
  const { userId } = await getCaller(context, user)
  const { numDeletedRows } = await context.database.writer.write((trx) =>
    withUpstreams(trx)
      .deleteFrom('upstream_links')
      .where('user_id', '=', userId)
      .where('upstream', '=', upstream)
      .executeTakeFirstOrThrow(),
  )
  if (numDeletedRows === 0n) throw new RegistryError('not_found', `${user} has no account at '${upstream}' linked.`)
}

/** The accounts that are linked, by upstream and user. No keys. */
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

/** An account with its key opened. */
export interface OpenAccount {
  readonly key: string
  readonly username: string | null
}

/** The account of a user, asked for its name once more where that is not known yet; undefined where none is linked. */
export async function openAccount(
  parts: AccountParts,
  upstream: Upstream,
  userId: string,
): Promise<OpenAccount | undefined> {
  const { secrets, database } = parts.context
  const link = await withUpstreams(database.read)
    .selectFrom('upstream_links')
    .select(['username', 'credential'])
    .where('user_id', '=', userId)
    .where('upstream', '=', upstream.name)
    .executeTakeFirst()
  if (!link) return undefined
  const key = openKey(() => secrets.open(link.credential))
  if (link.username) return { key, username: link.username }
  const username = await askWho(parts, upstream, key)
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

/** How soon it is looked again whether the node was started with its secret key. */
const secretRetrySeconds = 60

/** A node that was started without its secret key has not lost it: what waits goes on waiting until it has it again. */
export function openKey<T>(open: () => T): T {
  try {
    return open()
  } catch (cause) {
    if (!(cause instanceof RegistryError)) throw cause
    throw new RegistryError('conflict', cause.message, { retryAfterSeconds: secretRetrySeconds, cause })
  }
}

/** Null where nobody can say now, or where the upstream does not tell. */
async function askWho({ httpOf }: AccountParts, upstream: Upstream, key: string): Promise<string | null> {
  try {
    const { fetch } = httpOf(upstream)
    const { username } = await createClient({ baseUrl: upstream.location, apiKey: key, fetch, retries: 0 }).getMe({})
    // Shown to people, and part of names.
    return isUsername(username) ? username : null
  } catch (error) {
    const { code, isPassing } = toProblem(error, 0)
    if (isPassing || code === 'not_found' || code === 'method_not_allowed') return null
    if (code !== 'unauthorized') throw error
    throw new RegistryError(
      'invalid_request',
      `'${upstream.name}' does not know this API key; make one there and give that.`,
    )
  }
}

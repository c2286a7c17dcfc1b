import { RegistryError, isUsername, reservedOwners } from '@skillstead/protocol'
import type { Run } from '../run.ts'
import type { SnapshotSource } from '../types.ts'
import { askJson } from './ask.ts'
import { createPrivateSkills } from './private-skills.ts'
import { openAccount } from '../writing/accounts.ts'
import { toApiBase } from './registry-reader.ts'
import { createRegistrySource } from './registry-source.ts'
import { drain, readPlace, recordRefusals, type Place } from './drain.ts'
import { wantsName } from './wanted.ts'

/** A key of an account at the upstream. */
interface Account {
  readonly apiKey: string
  /** What its user said to be called there; undefined for the key that the operator gave. */
  readonly username?: string
}

const meBytesMax = 1024 * 1024

/**
 * Brings the private skills of the accounts whose keys are here: the operator's for this upstream, and those that users
 * linked. They arrive private, under the name of their owner, and no log tells of them.
 */
export async function syncPrivate(run: Run, place: Place = readPlace(run.upstream.cursor)): Promise<void> {
  for (const account of await listAccounts(run)) {
    const username = await readUsername(run, account).catch(async (error: unknown) => {
      // One user's old key is no reason for the others' sync to fail.
      if (account.username === undefined || !(error instanceof RegistryError) || error.code !== 'unauthorized')
        throw error
      await recordRefusals(run, [{ subject: account.username, reason: 'missing', detail: error.message }])
      return undefined
    })
    if (username === undefined) continue
    const ownNamespaces = account.username === undefined ? [username] : []
    await drain(run, openPrivate(run, account.apiKey, username), { place, part: { username }, ownNamespaces })
  }
}

async function listAccounts(run: Run): Promise<Account[]> {
  const { parts, upstream } = run
  const links = await parts.registry.database.read
    .selectFrom('upstream_links')
    .innerJoin('users', 'users.id', 'upstream_links.user_id')
    .select(['users.username', 'user_id'])
    .where('upstream', '=', upstream.name)
    .orderBy('users.username')
    .execute()
  const linked: Required<Account>[] = []
  for (const link of links) {
    const account = await openLinked(run, link)
    if (account) linked.push(account)
  }
  const apiKey = parts.readCredential(upstream)
  // Somebody's own link says more of him than the key of the operator.
  return apiKey === undefined || linked.some((link) => link.apiKey === apiKey) ? linked : [{ apiKey }, ...linked]
}

/**
 * The account that a user linked, by the name that it has there; undefined where that cannot be known now, or where the
 * key cannot be read: that is kept as a refusal, and no reason for the others' sync to fail.
 */
async function openLinked(
  run: Run,
  { username: user, user_id: userId }: { username: string; user_id: string },
): Promise<Required<Account> | undefined> {
  const { parts, upstream, http } = run
  try {
    const account = await openAccount({ registry: parts.registry, httpOf: () => http }, upstream, userId)
    return account && account.username !== null ? { apiKey: account.key, username: account.username } : undefined
  } catch (error) {
    const isOwn = error instanceof RegistryError && (error.code === 'conflict' || error.code === 'invalid_request')
    if (!isOwn) throw error
    await recordRefusals(run, [{ subject: user, reason: 'missing', detail: error.message }])
    return undefined
  }
}

/** Throws `unauthorized` for a key that is none, or is another one's. */
async function readUsername({ upstream, http }: Run, { apiKey, username }: Account): Promise<string> {
  const base = toApiBase(upstream.location)
  const answer = await askJson(http, { url: new URL(`${base}/users/me`), apiKey, bytesMax: meBytesMax }).catch(
    (error: unknown) => {
      if (!(error instanceof RegistryError) || error.code !== 'unauthorized') throw error
      const whose = username === undefined ? 'given with --api-key' : `that ${username} linked`
      throw new RegistryError('unauthorized', `'${upstream.name}' does not take the key ${whose}; give another one.`)
    },
  )
  const said = (answer!.value as { username?: unknown } | null)?.username
  if (typeof said !== 'string' || !isUsername(said) || reservedOwners.has(said)) {
    throw new RegistryError('upstream_failed', `'${upstream.name}' does not say whose key it was given.`)
  }
  if (username === undefined || username === said) return said
  throw new RegistryError(
    'unauthorized',
    `The key that ${username} linked to '${upstream.name}' is the one of ${said}.`,
  )
}

function openPrivate(run: Run, apiKey: string, username: string): SnapshotSource {
  const { upstream, http, parts } = run
  const { location } = upstream
  const wants = ({ owner, name }: { owner: string; name: string }) => owner === username && wantsName(run, owner, name)
  if (upstream.kind === 'node') return createPrivateSkills({ location, http, apiKey, username, wants })
  const now = () => parts.registry.clock.now()
  return createRegistrySource({ location, http, apiKey, isPrivate: true, now, wants })
}

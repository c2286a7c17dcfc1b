import { RegistryError, isUsername, reservedOwners, type ErrorCode, toFields } from '@skillstead/protocol'
import { updateOwn, type Run } from '../run.ts'
import type { SnapshotSource } from '../types.ts'
import { fetchJson, isAboutOne } from './fetch-answer.ts'
import { createPrivateSkills } from './private-skills.ts'
import { openAccount } from '../writing/accounts.ts'
import { toApiBase } from './registry-reader.ts'
import { createRegistrySource } from './registry-source.ts'
import { drainSource, readSnapshotPlace, recordRefusals, type Place } from './drain.ts'
import { createKnownReleases } from './known-releases.ts'
import { wantsName } from './wanted-releases.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** An account at the upstream, with its API key. */
interface Account {
  readonly apiKey: string
  /** The user of this node who linked the account; undefined for the account of the operator's API key. */
  readonly user?: string
  /** The username at the upstream; undefined until the upstream has reported it. */
  readonly username?: string | undefined
}

const meBytesMax = 1024 * 1024

/**
 * Imports the private skills of the accounts that users linked and of the operator's API key. The skills stay private
 * under their owner's name, and are in no log. An upstream could report a false username. So only an account that a
 * user linked may import into a namespace of this node, and only if its username is the name of that user.
 */
export async function syncPrivate(run: Run, place: Place = readSnapshotPlace(run.upstream.cursor)): Promise<void> {
  const linked = await listLinked(run)
  for (const account of linked) {
    // An invalid API key of one user must not stop the sync of other users.
    const username = await readAccountName(run, account).catch(
      refuseFor(run, account.user, ['unauthorized', 'conflict']),
    )
    // Under another username, the skills would belong to another user than the one who linked the account.
    if (username === account.user) await drainPrivate(run, place, { ...account, username })
  }
  await syncOperators(run, place, linked)
}

/** Imports the private skills of the operator's API key. Called last, because the sync fails if this key is invalid. */
async function syncOperators(run: Run, place: Place, linked: readonly Account[]): Promise<void> {
  const { parts, upstream } = run
  const apiKey = parts.readCredential(upstream)
  // If a user linked the same key, it was already used before.
  if (apiKey === undefined || linked.some((link) => link.apiKey === apiKey)) return
  const known = { apiKey, username: upstream.account ?? undefined }
  const username = await readAccountName(run, known).catch(refuseFor(run, upstream.name, ['conflict']))
  if (username === undefined) return
  // Stored, so that the upstream cannot report another user for the same key later.
  if (upstream.account === null)
    await parts.context.database.writer.write((trx) => updateOwn(trx, run, { account: username }))
  if (linked.some((link) => link.user === username && link.username === username)) return
  const [claimed] = await createKnownReleases(parts.context, upstream.name).findClaimed([username])
  if (claimed === undefined) return drainPrivate(run, place, { apiKey, username })
  const detail = `The namespace ${username} belongs to a user of this node. Only a key linked for this user may import into it: mirror link ${upstream.name} --user ${username}`
  await recordRefusals(run, [{ subject: username, reason: 'owned_locally', detail }])
}

/** Returns a handler that records errors with these codes as refusals, and throws all other errors. */
function refuseFor(run: Run, subject: string, codes: readonly ErrorCode[]) {
  return async (error: unknown): Promise<undefined> => {
    if (!(error instanceof RegistryError) || !codes.includes(error.code)) throw error
    await recordRefusals(run, [{ subject, reason: 'missing', detail: error.message }])
  }
}

async function drainPrivate(
  run: Run,
  place: Place,
  { apiKey, username }: { apiKey: string; username: string },
): Promise<void> {
  await drainSource(run, openPrivate(run, apiKey, username), { place, part: { username } })
}

async function listLinked(run: Run): Promise<(Account & { readonly user: string })[]> {
  const { parts, upstream } = run
  const links = await withUpstreams(parts.context.database.read)
    .selectFrom('upstream_links')
    .innerJoin('users', 'users.id', 'upstream_links.user_id')
    .select(['users.username', 'user_id'])
    .where('upstream', '=', upstream.name)
    .orderBy('users.username')
    .execute()
  const linked: (Account & { readonly user: string })[] = []
  for (const link of links) {
    const account = await openLinked(run, link)
    if (account) linked.push({ ...account, user: link.username })
  }
  return linked
}

/**
 * Opens an account that a user linked. Undefined if its username cannot be determined now, or if its API key cannot be
 * decrypted. The latter is recorded as a refusal, so that the sync of other accounts continues.
 */
async function openLinked(
  run: Run,
  { username: user, user_id: userId }: { username: string; user_id: string },
): Promise<Account | undefined> {
  const { parts, upstream, http } = run
  try {
    const account = await openAccount({ context: parts.context, httpOf: () => http }, upstream, userId)
    return account && account.username !== null ? { apiKey: account.key, username: account.username } : undefined
  } catch (error) {
    return refuseFor(run, user, ['conflict', 'invalid_request'])(error)
  }
}

/**
 * Requests the username of an API key. Throws `unauthorized` for an invalid key or another username than before, and
 * `conflict` if the upstream reports no valid username.
 */
async function readAccountName({ upstream, http }: Run, { apiKey, user, username }: Account): Promise<string> {
  const base = toApiBase(upstream.location)
  const whose = user === undefined ? 'set with --api-key' : `that ${user} linked`
  const answer = await fetchJson(http, { url: new URL(`${base}/users/me`), apiKey, bytesMax: meBytesMax }).catch(
    (error: unknown) => {
      if (!(error instanceof RegistryError) || !isAboutOne(error)) throw error
      if (error.code !== 'unauthorized') return undefined
      throw new RegistryError('unauthorized', `'${upstream.name}' rejects the key ${whose}. Set another one.`)
    },
  )
  const { username: said } = toFields(answer?.value)
  if (typeof said !== 'string' || !isUsername(said) || reservedOwners.has(said)) {
    const detail = `'${upstream.name}' reports no valid username for the key ${whose}. Its private skills are not imported.`
    throw new RegistryError('conflict', detail)
  }
  if (username === undefined || username === said) return said
  const again = user === undefined ? `set it again (mirror set ${upstream.name} --api-key -)` : 'link it again'
  const detail = `'${upstream.name}' reports that the key ${whose} belongs to ${said}, and reported ${username} before. Its private skills are not imported. If ${said} is correct, ${again}.`
  throw new RegistryError('unauthorized', detail)
}

function openPrivate(run: Run, apiKey: string, username: string): SnapshotSource {
  const { upstream, http, parts } = run
  const { location } = upstream
  const wants = ({ owner, name }: { owner: string; name: string }) => owner === username && wantsName(run, owner, name)
  if (upstream.kind === 'node') return createPrivateSkills({ location, http, apiKey, username, wants })
  const now = () => parts.context.clock.now()
  return createRegistrySource({ location, http, apiKey, isPrivate: true, now, wants })
}

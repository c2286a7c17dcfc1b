import { RegistryError, isUsername, reservedOwners, type ErrorCode } from '@skillstead/protocol'
import { updateOwn, type Run } from '../run.ts'
import type { SnapshotSource } from '../types.ts'
import { askJson, isAboutOne } from './ask.ts'
import { createPrivateSkills } from './private-skills.ts'
import { openAccount } from '../writing/accounts.ts'
import { toApiBase } from './registry-reader.ts'
import { createRegistrySource } from './registry-source.ts'
import { drain, readPlace, recordRefusals, type Place } from './drain.ts'
import { createKnown } from './known.ts'
import { wantsName } from './wanted-releases.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** A key of an account at the upstream. */
interface Account {
  readonly apiKey: string
  /** The user of this node who linked it; undefined for the key that the operator gave. */
  readonly user?: string
  /** What the upstream said its user is called there; undefined where it was not asked yet. */
  readonly username?: string | undefined
}

const meBytesMax = 1024 * 1024

/**
 * Brings the private skills of the accounts whose keys are here: those that users linked, and the operator's for this
 * upstream. They arrive private, under the name of their owner, and no log tells of them. An upstream that lies about
 * names must not get into the namespace of a user of this node: that is open only to the account which he linked.
 */
export async function syncPrivate(run: Run, place: Place = readPlace(run.upstream.cursor)): Promise<void> {
  const linked = await listLinked(run)
  for (const account of linked) {
    // One user's old key is no reason for the others' sync to fail.
    const username = await readUsername(run, account).catch(refuseFor(run, account.user, ['unauthorized', 'conflict']))
    // Under another name than his own here the user would not see them, and somebody else might.
    if (username === account.user) await drainPrivate(run, place, { ...account, username })
  }
  await syncOperators(run, place, linked)
}

/** The operator's key comes last, since the sync fails where it is no longer good. */
async function syncOperators(run: Run, place: Place, linked: readonly Account[]): Promise<void> {
  const { parts, upstream } = run
  const apiKey = parts.readCredential(upstream)
  // Somebody's own link says more of him than the key of the operator.
  if (apiKey === undefined || linked.some((link) => link.apiKey === apiKey)) return
  const known = { apiKey, username: upstream.account ?? undefined }
  const username = await readUsername(run, known).catch(refuseFor(run, upstream.name, ['conflict']))
  if (username === undefined) return
  if (upstream.account === null) await bindAccount(run, username)
  if (linked.some((link) => link.user === username && link.username === username)) return
  const [claimed] = await createKnown(parts.context, upstream.name).findClaimed([username])
  if (claimed === undefined) return drainPrivate(run, place, { apiKey, username })
  const detail = `${username} is a user of this node, whose namespace only a key that is linked to him opens: mirror link ${upstream.name} --user ${username}`
  await recordRefusals(run, [{ subject: username, reason: 'owned_locally', detail }])
}

/** Keeps errors with these codes as a refusal, and throws the others. */
function refuseFor(run: Run, subject: string, codes: readonly ErrorCode[]) {
  return async (error: unknown): Promise<undefined> => {
    if (!(error instanceof RegistryError) || !codes.includes(error.code)) throw error
    await recordRefusals(run, [{ subject, reason: 'missing', detail: error.message }])
  }
}

/** Held to from here on: the same key cannot become that of another user. */
async function bindAccount(run: Run, username: string): Promise<void> {
  await run.parts.context.database.writer.write((trx) => updateOwn(trx, run, { account: username }))
}

async function drainPrivate(
  run: Run,
  place: Place,
  { apiKey, username }: { apiKey: string; username: string },
): Promise<void> {
  await drain(run, openPrivate(run, apiKey, username), { place, part: { username } })
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
 * The account that a user linked, by the name that it has there; undefined where that cannot be known now, or where the
 * key cannot be read: that is kept as a refusal, and no reason for the others' sync to fail.
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

/** Throws `unauthorized` for a key that is none, or is said to be another one's than before, `conflict` where nobody says. */
async function readUsername({ upstream, http }: Run, { apiKey, user, username }: Account): Promise<string> {
  const base = toApiBase(upstream.location)
  const whose = user === undefined ? 'given with --api-key' : `that ${user} linked`
  const answer = await askJson(http, { url: new URL(`${base}/users/me`), apiKey, bytesMax: meBytesMax }).catch(
    (error: unknown) => {
      if (!(error instanceof RegistryError) || !isAboutOne(error)) throw error
      if (error.code !== 'unauthorized') return undefined
      throw new RegistryError('unauthorized', `'${upstream.name}' does not take the key ${whose}; give another one.`)
    },
  )
  const said = (answer?.value as { username?: unknown } | null | undefined)?.username
  if (typeof said !== 'string' || !isUsername(said) || reservedOwners.has(said)) {
    const detail = `'${upstream.name}' gives no name that a user can have here for the key ${whose}: no private skills come with it.`
    throw new RegistryError('conflict', detail)
  }
  if (username === undefined || username === said) return said
  const again = user === undefined ? `give it again (mirror set ${upstream.name} --api-key -)` : 'link it again'
  const detail = `'${upstream.name}' says that the key ${whose} is the one of ${said}, and said ${username} before. No private skills come with it; ${again} if that is right.`
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

import type { Database, StorageContext } from '@skillstead/core/internal'
import { RegistryError, type RegistryApi, type SkillDetails, toShortName, toOwnerName } from '@skillstead/protocol'
import { findRemoteName, findRename } from './names.ts'
import { readWrittenPackage, requirePublicSkill } from './package.ts'
import { WriteConflict } from './problems.ts'
import { findPathName, hasSameContent } from './remote-version.ts'
import { openApi, type Note, type Sending, type SendingOf } from './sending.ts'
import { selectPublishing } from '../queue/upstream-write.ts'

/** Seconds after which a fork is retried whose source is not yet delivered to the upstream. */
const sourceRetrySeconds = 60

/** Publishes a stored version of a skill, or changed settings if the write has no version. */
export async function sendPublish(sending: SendingOf<'publish'>): Promise<Note> {
  const { context, upstream, write } = sending
  const { skillId, version, digest, settings } = write.payload
  const { read } = context.database
  await requirePublicSkill(context, skillId)
  const renamedTo = await findRename(read, upstream.name, write.subject)
  const name = toSentName(sending, await findRemoteName(read, upstream.name, write.subject), renamedTo)
  const { keywords, visibility: _, ...rest } = settings
  const texts = { name, ...rest, ...(keywords && { keywords: [...keywords] }) }
  if (version === undefined || digest === undefined) {
    await openApi(sending).publishSkill(texts)
    return undefined
  }
  const content = await readWrittenPackage(context, { skillId, version, digest, renamedTo })
  const { skillMd, files } = content
  const changelog = await readChangelog(context, { skillId, version })
  const api = openApi(sending)
  try {
    const answer: Partial<Awaited<ReturnType<RegistryApi['publishSkill']>>> | null | undefined = await api.publishSkill(
      {
        ...texts,
        version,
        skillMd,
        ...(files.length > 0 && { files }),
        ...(changelog !== '' && { changelog }),
      },
    )
    requireSame(sending, answer?.version, { version, digest: content.digest })
    if (!answer?.quarantined) return undefined
  } catch (error) {
    if (isTaken(error) && (await hasSameContent(api, sending, toRemoteName(sending, name), { version, ...content })))
      return undefined
    throw error
  }
  return {
    code: 'quarantined',
    message: `${upstream.name} quarantined the version until an administrator there releases it.`,
  }
}

/** Forks a skill at the upstream, if the latest version there is the version that was forked on this node. */
export async function sendFork(sending: SendingOf<'fork'>): Promise<Note> {
  const { context, upstream, write } = sending
  const { skillId, source, version, digest } = write.payload
  const { read } = context.database
  await requirePublicSkill(context, skillId)
  await requireSourceDelivered(read, upstream.name, source)
  const renamedTo = await findRename(read, upstream.name, write.subject)
  const name = await findRemoteName(read, upstream.name, source)
  const newName = renamedTo ?? toShortName(write.subject)
  const wanted = { version, ...(await readWrittenPackage(context, { skillId, version, digest, renamedTo })) }
  const api = openApi(sending)
  const isForked = () => hasSameContent(api, sending, toRemoteName(sending, newName), wanted)
  const path = await findPathName(api, sending, name)
  if ((await api.getSkill({ name: path })).latestVersion !== version) {
    if (await isForked()) return
    const message = `The latest version of ${name} at ${upstream.name} is not ${version}, which was forked on this node.`
    throw new WriteConflict('changed', `${message} Drop the write, and fork the newer version.`)
  }
  try {
    const fork: Partial<SkillDetails> | null | undefined = await api.forkSkill({ name: path, newName })
    requireSame(sending, { version: fork?.latestVersion ?? undefined, digest: fork?.digest ?? undefined }, wanted)
  } catch (error) {
    if (!isTaken(error) || !(await isForked())) throw error
  }
  return undefined
}

/**
 * Whether the error states that the upstream already has the skill or version, perhaps from an earlier attempt whose
 * response was lost, and whose idempotency key the upstream has forgotten.
 */
function isTaken(error: unknown): boolean {
  if (!(error instanceof RegistryError) || error.retryAfterSeconds !== undefined) return false
  return error.code === 'version_exists' || error.code === 'name_taken' || error.code === 'conflict'
}

/** The name to send: the operator's choice, else the short name in the user's own namespace, else the full name. */
function toSentName({ account, write }: Sending, fullName: string, renamedTo: string | undefined): string {
  if (renamedTo !== undefined) return renamedTo
  const own = account?.username ?? toOwnerName(write.subject)
  return toOwnerName(fullName) === own ? toShortName(fullName) : fullName
}

/** Throws {@link WriteConflict} if the upstream reports another version or digest than the version that was sent. */
function requireSame(
  { upstream }: Sending,
  answer: { version?: string | undefined; digest?: string | undefined } | undefined,
  wanted: { version: string; digest: string },
): void {
  const { version = wanted.version, digest = wanted.digest } = answer ?? {}
  if (version === wanted.version && digest === wanted.digest) return
  const message = `${upstream.name} stored ${version} with digest ${digest}, but ${wanted.version} on this node has ${wanted.digest}.`
  throw new WriteConflict('altered', `${message} Check the version there, then retry or drop the write.`)
}

/** The full name of a sent name, which is short if the skill is in the user's own namespace. */
function toRemoteName({ account, write }: Sending, name: string): string {
  return name.includes('/') ? name : `${account?.username ?? toOwnerName(write.subject)}/${name}`
}

/** Throws a temporary error while writes of the fork's source to the upstream are unfinished. */
async function requireSourceDelivered(db: Database['read'], upstream: string, source: string): Promise<void> {
  const query = selectPublishing(db, upstream, ['pending', 'conflict']).where('subject', '=', source)
  const waiting = await query.select('id').limit(1).executeTakeFirst()
  if (!waiting) return
  const detail = `Writes of the fork's source ${source} must be delivered first, and are pending or in conflict.`
  throw new RegistryError('conflict', detail, { retryAfterSeconds: sourceRetrySeconds })
}

async function readChangelog(
  { database }: StorageContext,
  wanted: { skillId: string; version: string },
): Promise<string> {
  const row = await database.read
    .selectFrom('versions')
    .select('changelog')
    .where('skill_id', '=', wanted.skillId)
    .where('version', '=', wanted.version)
    .executeTakeFirst()
  return row?.changelog ?? ''
}

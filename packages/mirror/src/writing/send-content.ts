import type { Database, StorageContext } from '@skillstead/core/internal'
import { RegistryError, type RegistryApi, type SkillDetails } from '@skillstead/protocol'
import type { StoredWrite } from './rows.ts'
import { findNameThere, findRename } from './names.ts'
import { readPackage, requirePublic } from './package.ts'
import { WriteConflict } from './problems.ts'
import { findPathName, isSameThere } from './there.ts'
import { openApi, type Note, type Sending, type SendingOf } from './send.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** How soon a fork is looked at again whose source is not there yet. */
const sourceRetrySeconds = 60

/** A version exactly as it is stored, or a change of what is said of its skill. */
export async function sendPublish(sending: SendingOf<'publish'>): Promise<Note> {
  const { context, upstream, write } = sending
  const { skillId, version, digest, settings } = write.payload
  const { read } = context.database
  await requirePublic(context, skillId)
  const renamedTo = await findRename(read, upstream.name, write.subject)
  const name = toSentName(sending, await findNameThere(read, upstream.name, write.subject), renamedTo)
  const { keywords, visibility: _, ...texts } = settings
  const told = { name, ...texts, ...(keywords && { keywords: [...keywords] }) }
  if (version === undefined || digest === undefined) {
    await openApi(sending).publishSkill(told)
    return undefined
  }
  const content = await readPackage(context, { skillId, version, digest, renamedTo })
  const { skillMd, files } = content
  const changelog = await readChangelog(context, { skillId, version })
  const api = openApi(sending)
  try {
    const answer: Partial<Awaited<ReturnType<RegistryApi['publishSkill']>>> | null | undefined = await api.publishSkill(
      {
        ...told,
        version,
        skillMd,
        ...(files.length > 0 && { files }),
        ...(changelog !== '' && { changelog }),
      },
    )
    requireSame(sending, answer?.version, { version, digest: content.digest })
    if (!answer?.quarantined) return undefined
  } catch (error) {
    if (isTaken(error) && (await isSameThere(api, sending, toFullName(sending, name), { version, ...content })))
      return undefined
    throw error
  }
  return {
    code: 'quarantined',
    message: `${upstream.name} keeps it back until an administrator there has looked at it.`,
  }
}

/** Made there of the same version: of another one it would be another fork. */
export async function sendFork(sending: SendingOf<'fork'>): Promise<Note> {
  const { context, upstream, write } = sending
  const { skillId, source, version, digest } = write.payload
  const { read } = context.database
  await requirePublic(context, skillId)
  await requireSourceThere(read, upstream.name, source)
  const renamedTo = await findRename(read, upstream.name, write.subject)
  const name = await findNameThere(read, upstream.name, source)
  const newName = renamedTo ?? shortNameOf(write.subject)
  const wanted = { version, ...(await readPackage(context, { skillId, version, digest, renamedTo })) }
  const api = openApi(sending)
  const isMade = () => isSameThere(api, sending, toFullName(sending, newName), wanted)
  const path = await findPathName(api, sending, name)
  if ((await api.getSkill({ name: path })).latestVersion !== version) {
    if (await isMade()) return
    const message = `${name} has another latest version at ${upstream.name} than the ${version} that was forked here.`
    throw new WriteConflict('changed', `${message} Drop the write, and fork the newer one.`)
  }
  try {
    const fork: Partial<SkillDetails> | null | undefined = await api.forkSkill({ name: path, newName })
    requireSame(sending, { version: fork?.latestVersion ?? undefined, digest: fork?.digest ?? undefined }, wanted)
  } catch (error) {
    if (!isTaken(error) || !(await isMade())) throw error
  }
  return undefined
}

/** What is there may be ours: made by an attempt of which nobody heard, and whose answer the upstream does not keep. */
function isTaken(error: unknown): boolean {
  if (!(error instanceof RegistryError) || error.retryAfterSeconds !== undefined) return false
  return error.code === 'version_exists' || error.code === 'name_taken' || error.code === 'conflict'
}

/** The short name in the user's own namespace there, else the full one. */
function toSentName({ account, write }: Sending, fullName: string, renamedTo: string | undefined): string {
  if (renamedTo !== undefined) return renamedTo
  const own = account?.username ?? ownerOf(write.subject)
  return ownerOf(fullName) === own ? shortNameOf(fullName) : fullName
}

/** What the upstream has must be what is here, as far as it says. */
function requireSame(
  { upstream }: Sending,
  answer: { version?: string | undefined; digest?: string | undefined } | undefined,
  wanted: { version: string; digest: string },
): void {
  const { version = wanted.version, digest = wanted.digest } = answer ?? {}
  if (version === wanted.version && digest === wanted.digest) return
  const message = `${upstream.name} stored ${version} as ${digest}, and here ${wanted.version} is ${wanted.digest}.`
  throw new WriteConflict('altered', `${message} Look at it there before anything more is sent.`)
}

/** Of a name as it is sent. */
function toFullName({ account, write }: Sending, name: string): string {
  return name.includes('/') ? name : `${account?.username ?? ownerOf(write.subject)}/${name}`
}

/** A source that waits itself goes first, and holds up nothing else. */
async function requireSourceThere(db: Database['read'], upstream: string, source: string): Promise<void> {
  const waiting = await withUpstreams(db)
    .selectFrom('upstream_writes')
    .select('id')
    .where('upstream', '=', upstream)
    .where('state', 'in', ['pending', 'conflict'] satisfies StoredWrite['state'][])
    .where('subject', '=', source)
    .where('kind', 'in', ['publish', 'fork'] satisfies StoredWrite['kind'][])
    .limit(1)
    .executeTakeFirst()
  if (!waiting) return
  const detail = `${source} has to arrive first; it waits, or is in conflict, itself.`
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

function ownerOf(fullName: string): string {
  return fullName.slice(0, fullName.indexOf('/'))
}

function shortNameOf(fullName: string): string {
  return fullName.slice(fullName.indexOf('/') + 1)
}

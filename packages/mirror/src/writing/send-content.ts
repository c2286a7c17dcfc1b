import type { Registry } from '@skillstead/core'
import { RegistryError, type RegistryApi, type SkillDetails } from '@skillstead/protocol'
import type { StoredWrite } from './rows.ts'
import { findNameThere, findRename } from './names.ts'
import { readPackage, requirePublic } from './package.ts'
import { WriteConflict } from './problems.ts'
import { openApi, type Note, type Sending, type SendingOf } from './send.ts'

/** How soon a fork is looked at again whose source is not there yet. */
const sourceRetrySeconds = 60

/** A version exactly as it is stored, or a change of what is said of its skill. */
export async function sendPublish(sending: SendingOf<'publish'>): Promise<Note> {
  const { registry, upstream, write } = sending
  const { skillId, version, digest, settings } = write.payload
  const { read } = registry.database
  await requirePublic(registry, skillId)
  const renamedTo = await findRename(read, upstream.name, write.subject)
  const name = toSentName(sending, await findNameThere(read, upstream.name, write.subject), renamedTo)
  const { keywords, visibility: _, ...texts } = settings
  const told = { name, ...texts, ...(keywords && { keywords: [...keywords] }) }
  if (version === undefined || digest === undefined) {
    await openApi(sending).publishSkill(told)
    return undefined
  }
  const content = await readPackage(registry, { skillId, version, digest, renamedTo })
  const { skillMd, files } = content
  const changelog = await readChangelog(registry, { skillId, version })
  const answer: Partial<Awaited<ReturnType<RegistryApi['publishSkill']>>> = await openApi(sending).publishSkill({
    ...told,
    version,
    skillMd,
    ...(files.length > 0 && { files }),
    ...(changelog !== '' && { changelog }),
  })
  requireSame(sending, answer.version, { version, digest: content.digest })
  if (!answer.held) return undefined
  return { code: 'held', message: `${upstream.name} keeps it back until an administrator there has looked at it.` }
}

/** Made there of the same version: of another one it would be another fork. */
export async function sendFork(sending: SendingOf<'fork'>): Promise<Note> {
  const { registry, upstream, write } = sending
  const { skillId, source, version, digest } = write.payload
  const { read } = registry.database
  await requirePublic(registry, skillId)
  await requireSourceThere(read, upstream.name, source)
  const renamedTo = await findRename(read, upstream.name, write.subject)
  const name = await findNameThere(read, upstream.name, source)
  const newName = renamedTo ?? shortNameOf(write.subject)
  const wanted = { version, digest: (await readPackage(registry, { skillId, version, digest, renamedTo })).digest }
  const api = openApi(sending)
  if ((await api.getSkill({ name })).latestVersion !== version) {
    if (await isThere(api, sending, newName, wanted)) return
    const message = `${name} has another latest version at ${upstream.name} than the ${version} that was forked here.`
    throw new WriteConflict('changed', `${message} Drop the write, and fork the newer one.`)
  }
  try {
    const fork: Partial<SkillDetails> = await api.forkSkill({ name, newName })
    requireSame(sending, { version: fork.latestVersion ?? undefined, digest: fork.digest ?? undefined }, wanted)
  } catch (error) {
    // It was made by an attempt of which nobody heard, longer ago than answers are kept.
    const isMaybeOurs = error instanceof RegistryError && error.code === 'name_taken'
    if (!isMaybeOurs || !(await isThere(api, sending, newName, wanted))) throw error
  }
  return undefined
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

async function isThere(
  api: RegistryApi,
  { account, write }: Sending,
  newName: string,
  wanted: { version: string; digest: string },
): Promise<boolean> {
  const name = `${account?.username ?? ownerOf(write.subject)}/${newName}`
  try {
    const skill = await api.getSkill({ name, version: wanted.version })
    return (
      skill.forkedFrom !== null &&
      skill.versions.some((one) => one.version === wanted.version && one.digest === wanted.digest)
    )
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'not_found') return false
    throw error
  }
}

/** A source that waits itself goes first, and holds up nothing else. */
async function requireSourceThere(db: Registry['database']['read'], upstream: string, source: string): Promise<void> {
  const waiting = await db
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

async function readChangelog({ database }: Registry, wanted: { skillId: string; version: string }): Promise<string> {
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

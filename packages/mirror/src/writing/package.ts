import type { MirrorContext } from '../run.ts'
import type { StorageContext } from '@skillstead/core/internal'
import { readContents, readVersionFiles } from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { toManifest } from '@skillstead/protocol'
import { rewriteFrontmatterName } from '@skillstead/skill-format'
import { WriteConflict } from './problems.ts'

/** A version as it is sent. */
export interface SentPackage {
  readonly skillMd: string
  readonly files: { path: string; content: string; encoding: 'base64' }[]
  /** Of exactly this content. */
  readonly digest: string
}

/**
 * The content of a version that is stored here, under another name where one is given. Throws {@link WriteConflict} for
 * a version that is no longer everyone's to see, or not what it was.
 */
export async function readPackage(
  context: MirrorContext,
  wanted: { skillId: string; version: string; digest: string; renamedTo: string | undefined },
): Promise<SentPackage> {
  const { version, digest, renamedTo } = wanted
  const row = await findVersion(context, wanted)
  if (!row || row.digest !== digest) throw changed(`The version ${version} is no longer here as it was.`)
  const files = await readVersionFiles(context, row.id)
  const contents = await readContents(
    context,
    files.map((file) => file.digest),
  )
  const read = files.map(({ path, digest: of }) => {
    const bytes = contents.get(of)
    if (!bytes || toDigest(bytes) !== of)
      throw changed(`The file ${path} of ${version} is damaged here; see \`doctor\`.`)
    return { path, bytes }
  })
  const [skillMd, ...rest] = read
  const text = Buffer.from(skillMd!.bytes).toString()
  const sent = renamedTo === undefined ? text : rewriteFrontmatterName(text, renamedTo)
  return {
    skillMd: sent,
    files: rest.map(({ path, bytes }) => ({
      path,
      content: Buffer.from(bytes).toString('base64'),
      encoding: 'base64',
    })),
    digest: digestOf([{ path: 'SKILL.md', bytes: Buffer.from(sent) }, ...rest]),
  }
}

/** Throws {@link WriteConflict} for a skill that is no longer everyone's to see. */
export async function requirePublic({ database }: StorageContext, skillId: string): Promise<void> {
  const skill = await database.read
    .selectFrom('skills')
    .select(['visibility', 'state'])
    .where('id', '=', skillId)
    .executeTakeFirst()
  if (skill?.visibility === 'public' && skill.state === 'live') return
  throw changed('The skill is no longer public here, so nothing of it is sent.')
}

async function findVersion({ database }: StorageContext, { skillId, version }: { skillId: string; version: string }) {
  const row = await database.read
    .selectFrom('versions')
    .select(['id', 'digest', 'yanked'])
    .where('skill_id', '=', skillId)
    .where('version', '=', version)
    .executeTakeFirst()
  if (row?.yanked) throw changed(`The version ${version} was yanked here since, so it is not sent.`)
  return row
}

function digestOf(files: readonly { path: string; bytes: Uint8Array }[]): string {
  return toDigest(toManifest(files.map(({ path, bytes }) => ({ path, size: bytes.length, digest: toDigest(bytes) }))))
}

function changed(message: string): WriteConflict {
  return new WriteConflict('changed', `${message} Drop the write, or undo that and retry.`)
}

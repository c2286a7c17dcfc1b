import type { MirrorContext } from '../run.ts'
import { isOffered, isShownToAll, type StorageContext, readContents, readFileRows } from '@skillstead/core/internal'
import { toDigest, toPublishFile, toVersionDigest } from '@skillstead/skill-format/archives'
import { rewriteFrontmatterName } from '@skillstead/skill-format'
import { WriteConflict } from './problems.ts'

/** A version in the form in which it is sent to an upstream. */
export interface SentPackage {
  readonly skillMd: string
  readonly files: ReturnType<typeof toPublishFile>[]
  /** The digest of these files, which differs from that of the stored version if the skill was renamed. */
  readonly digest: string
}

/**
 * Reads the stored content of a version, renamed if `renamedTo` is set. Throws {@link WriteConflict} for a version that
 * is no longer public or has changed.
 */
export async function readWrittenPackage(
  context: MirrorContext,
  wanted: { skillId: string; version: string; digest: string; renamedTo: string | undefined },
): Promise<SentPackage> {
  const { version, digest, renamedTo } = wanted
  const row = await findVersion(context, wanted)
  if (!row || row.digest !== digest)
    throw changedConflict(`The version ${version} has been removed or changed on this node.`)
  const files = await readFileRows(context.database.read, row.id)
  const contents = await readContents(
    context,
    files.map((file) => file.digest),
  )
  const read = files.map(({ path, digest: of, executable = false }) => {
    const bytes = contents.get(of)
    if (!bytes || toDigest(bytes) !== of)
      throw changedConflict(`The file ${path} of ${version} is damaged on this node: run \`skillstead doctor\`.`)
    return { path, bytes, executable }
  })
  const [skillMd, ...rest] = read
  const text = Buffer.from(skillMd!.bytes).toString()
  const sent = renamedTo === undefined ? text : rewriteFrontmatterName(text, renamedTo)
  return {
    skillMd: sent,
    files: rest.map(toPublishFile),
    digest: toVersionDigest([{ path: 'SKILL.md', bytes: Buffer.from(sent) }, ...rest]),
  }
}

/** Throws {@link WriteConflict} if the skill is no longer public. */
export async function requirePublicSkill({ database }: StorageContext, skillId: string): Promise<void> {
  const skill = await database.read
    .selectFrom('skills')
    .select(['visibility', 'state'])
    .where('id', '=', skillId)
    .executeTakeFirst()
  if (skill && isShownToAll(skill)) return
  throw changedConflict('The skill is no longer public on this node, so it is not sent.')
}

async function findVersion({ database }: StorageContext, { skillId, version }: { skillId: string; version: string }) {
  const row = await database.read
    .selectFrom('versions')
    .select(['id', 'digest', 'yanked', 'recalled_by'])
    .where('skill_id', '=', skillId)
    .where('version', '=', version)
    .executeTakeFirst()
  if (row && !isOffered(row))
    throw changedConflict(
      `The version ${version} has been ${row.yanked ? 'yanked' : 'recalled'} on this node, so it is not sent.`,
    )
  return row
}

function changedConflict(message: string): WriteConflict {
  return new WriteConflict('changed', `${message} Drop the write, or undo the change and retry.`)
}

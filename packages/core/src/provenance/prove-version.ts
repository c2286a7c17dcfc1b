import { RegistryError, type Provenance } from '@skillstead/protocol'
import type { Context } from '../context.ts'
import { isPublicMatter } from '../skills/skill-log.ts'
import type { SkillRow, VersionRow } from '../storage/tables.ts'
import { readSignedCheckpoint } from '../transparency/checkpoint.ts'
import { proveInclusion } from '../transparency/proofs.ts'

/** The proof that the log holds a version; null for what is not public, of which the log has nothing. */
export async function proveVersion(
  context: Context,
  skill: SkillRow,
  { version }: Pick<VersionRow, 'version'>,
): Promise<Provenance['log']> {
  if (!isPublicMatter(skill)) return null
  const subject = `${skill.full_name}@${version}`
  const found = await findEntry(context, subject)
  if (!found) throw new RegistryError('internal', `The log of this node has no entry of ${subject}, and should.`)
  const { entry, index } = found
  // Read after the entry, the checkpoint is of a tree that has it.
  const { origin, treeSize, rootHash, text: checkpoint } = await readSignedCheckpoint(context)
  const { leafHash, inclusionProof } = await proveInclusion(context, index, treeSize)
  return { origin, index, treeSize, leafHash, rootHash, inclusionProof, checkpoint, entry }
}

/** The newest of its entries: there is one more whenever the skill came into public sight again. */
async function findEntry(context: Context, subject: string): Promise<{ entry: string; index: number } | undefined> {
  const row = await context.database.read
    .selectFrom('log')
    .select(['seq', 'entry'])
    .where('subject', '=', subject)
    .where('type', '=', 'version')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && { entry: row.entry, index: row.seq - 1 }
}

import { type Provenance, RegistryError, toSignedFields, toTimestamp, provenEvaluationsMax } from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import type { LogContext } from '../../log/log-context.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { readVerifiedMethods } from '../../accounts/verified-author.ts'
import type { Operation } from '../../kernel/operation-input.ts'
import { readSignedCheckpoint } from '../../log/checkpoint.ts'
import { proveInclusion, proveIn } from '../../log/log-proofs.ts'
import { signText } from '../../log/signing-keys.ts'
import { readerOf, type TreeReader } from '../../log/log-tree.ts'
import { parseJson, type SkillRow, type VersionRow, type Tables } from '../../storage/tables.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { readForkChain } from './lineage.ts'
import { getSkillVersion } from '../skills/read-skill.ts'
import { toSkillOrigin } from '../versions/skill-document.ts'
import { isPublished } from '../../visibility/decisions.ts'
import type { Kysely } from 'kysely'

/**
 * GET /skills/<name>/provenance: a signed record of who published a version and when, its source, and its inclusion
 * proof. A client needs only the node's public key to verify the record.
 */
export const showProvenance: Operation<'getProvenance', CatalogueContext> = async (context, input, caller) => {
  const { skill, version } = await getSkillVersion(context, { ...input, allowRecalled: true }, caller)
  const methods = await readVerifiedMethods(context.database.read, [skill.owner_id])
  const log = await proveVersionEntry(context, skill, version)
  const record = {
    skill: { id: (log && readSkillId(log)) ?? skill.id, fullName: skill.full_name },
    version: version.version,
    digest: version.digest,
    publisher: { id: version.publisher_id, username: version.publisher },
    publishedAt: toTimestamp(version.published_at),
    firstPublishedAt: toTimestamp(await readFirstPublished(context, skill.id)),
    authorVerified: methods.get(skill.owner_id) ?? [],
    forkChain: await readForkChain(context, skill, caller),
    origin: toSkillOrigin(skill),
    log,
  }
  const evaluations = input.evaluations && log ? await proveResultsOf(context, skill, version, log) : undefined
  return { ...record, ...(evaluations && { evaluations }), signature: await signRecord(context, record) }
}

/** The proofs of the newest evaluation results of a version, in the log that contains the version. */
async function proveResultsOf(
  context: CatalogueContext,
  skill: SkillRow,
  { id, version }: Pick<VersionRow, 'id' | 'version'>,
  { origin, treeSize }: NonNullable<Provenance['log']>,
) {
  const subject = `${skill.full_name}@${version}`
  const authors = await readProvenAuthors(context.database.read, id)
  const { upstreamLogs, database } = context
  const reader = origin === context.origin ? readerOf(context) : upstreamLogs.readerOf(database.read, skill)
  return reader && proveEvaluations(reader, { subject, treeSize, authors })
}

/**
 * The skill's id in the log: if the skill was created again upstream, the id in the log may differ from the id under
 * which the skill was imported. Undefined for an entry of another kind, which verification of the record detects.
 */
function readSkillId({ entry }: NonNullable<Provenance['log']>): string | undefined {
  const { data } = parseJson<{ data?: { skill?: { id?: string } } }>(entry)
  return data?.skill?.id
}

async function readFirstPublished(context: StorageContext, skillId: string): Promise<number> {
  const { at } = await context.database.read
    .selectFrom('versions')
    .select((eb) => eb.fn.min<number>('published_at').as('at'))
    .where('skill_id', '=', skillId)
    .executeTakeFirstOrThrow()
  return at
}

/**
 * Makes a signed note of the text, an empty line and the signatures. The first line differs from the first line of a
 * checkpoint, so no signature is valid for both a record and a checkpoint.
 */
async function signRecord(context: LogContext, record: Omit<Provenance, 'signature'>): Promise<string> {
  const lines = await signText(context, `${canonicalize(toSignedFields(record))}\n`)
  return lines.map((line) => `${line}\n`).join('')
}

/**
 * The inclusion proof of a version; null for a version that is not public, since the log has no entry for such a
 * version. For a mirrored skill, the proof is in the upstream's log and built from the local copy of the upstream's
 * log.
 */
async function proveVersionEntry(context: CatalogueContext, skill: SkillRow, { version }: Pick<VersionRow, 'version'>) {
  if (!isPublished(skill)) return null
  const subject = `${skill.full_name}@${version}`
  if (skill.origin_kind === 'mirror') {
    const upstream = await context.upstreamLogs.proveVersion(context.database.read, skill, subject)
    if (upstream) return upstream
  }
  const found = await findVersionEntry(context, subject)
  if (!found) throw new RegistryError('internal', `The entry of ${subject} is missing from this node's log.`)
  const { entry, index } = found
  // The checkpoint is read after the entry, so that the tree of the checkpoint includes the entry.
  const { origin, treeSize, rootHash, timeless: checkpoint } = await readSignedCheckpoint(context)
  const { leafHash, inclusionProof } = await proveInclusion(context, index, treeSize)
  return { origin, index, treeSize, leafHash, rootHash, inclusionProof, checkpoint, entry }
}

/** The newest log entry of the version: each time the skill becomes public again, the log gets another entry. */
async function findVersionEntry(context: StorageContext, subject: string) {
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

/** The ids of the users who last posted a result for a version, at most as many as the record has proofs. */
async function readProvenAuthors(db: Kysely<Tables>, versionId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('evaluations')
    .select('author_id')
    .where('version_id', '=', versionId)
    .where('withdrawn', '=', 0)
    .orderBy('posted_at', 'desc')
    .orderBy('author_id')
    .limit(provenEvaluationsMax)
    .execute()
  return rows.map(({ author_id }) => author_id)
}

/** The text that identifies the author in log entries of results; fixed, because canonical JSON sorts keys. */
export function toAuthorPart(authorId: string): string {
  return `"author":{"id":"${authorId}"`
}

/**
 * The proofs of each author's newest entry about a version, in a log of `treeSize` entries. Leaves out entries that
 * withdraw a result.
 */
async function proveEvaluations(
  reader: TreeReader,
  { subject, treeSize, authors }: { subject: string; treeSize: number; authors: readonly string[] },
): Promise<NonNullable<Provenance['evaluations']>> {
  const proofs: NonNullable<Provenance['evaluations']> = []
  for (const author of authors) {
    const part = toAuthorPart(author)
    const found = await reader.rows.readNewest(reader.db, { type: 'evaluation', subject, treeSize, part })
    if (!found) continue
    const { seq, entry } = found
    const { data } = parseJson<{ data: { result?: unknown } }>(entry)
    if (!data.result) continue
    const { index, leafHash, inclusionProof } = await proveIn(reader, seq - 1, treeSize)
    proofs.push({ index, leafHash, inclusionProof, entry })
  }
  return proofs
}

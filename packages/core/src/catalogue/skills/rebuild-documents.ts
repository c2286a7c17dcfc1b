import { setImmediate } from 'node:timers/promises'
import type { SkillDetails } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { hourMs, minuteMs } from '../../kernel/clock.ts'
import { findMeta, putMeta } from '../../storage/meta.ts'
import { parseJson, type Tables } from '../../storage/tables.ts'
import { toLoadedBy } from '../../search/loading-clients.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { storeRequirements } from '../requires/requirement-rows.ts'
import { documentVersion } from '../versions/skill-document.ts'
import { toCurrentDocument } from './build-document.ts'

const documentsTopic = 'skills.documents'
const documentsMetaKey = 'documents'
/** Skills per transaction. `documentsPerRun`: skills per outbox row. */
const documentsPerWrite = 20
const documentsPerRun = 500

/** The position of a rebuild in the catalogue, as stored in `meta`. */
interface Walk {
  /** The version of the documents that the rebuild stores. */
  readonly version: number
  /** The number of the last skill whose document is current; absent after the last skill. */
  readonly after?: number
}

/**
 * Builds the stored documents again that a program with a lower {@link documentVersion} stored, one batch per outbox
 * row. The rebuild continues after a restart. Until a document is rebuilt, each read of the document builds its current
 * form.
 */
export async function scheduleDocuments(context: CatalogueContext): Promise<void> {
  context.outbox.handle(documentsTopic, {
    retryDelaysMs: [minuteMs, 10 * minuteMs, hourMs],
    handle: () => rebuildDocuments(context),
    async afterwards(trx) {
      const walk = await readDocumentWalk(trx)
      // If a node of another program version runs the rebuild, keep the outbox row for that node.
      if (walk?.after !== undefined) await enqueueRebuild(context, trx, walk.version === documentVersion ? 0 : minuteMs)
    },
  })
  await startDocuments(context)
}

/** Starts a rebuild if a program with a lower {@link documentVersion} may have stored documents. */
export async function startDocuments(context: CatalogueContext): Promise<void> {
  if (!isOlderWalk(await readDocumentWalk(context.database.read))) return
  await context.database.writer.write(async (trx) => {
    if (!isOlderWalk(await readDocumentWalk(trx))) return
    const isAny = await trx.selectFrom('skills').select('id').limit(1).executeTakeFirst()
    await putDocumentWalk(trx, { version: documentVersion, ...(isAny && { after: 0 }) })
    if (isAny) await enqueueRebuild(context, trx)
  })
}

function enqueueRebuild(context: CatalogueContext, trx: WriteTransaction, delayMs = 0): Promise<void> {
  return context.outbox.enqueue(trx, {
    topic: documentsTopic,
    payload: {},
    uniqueKey: documentsTopic,
    dueAt: context.clock.now() + delayMs,
  })
}

function isOlderWalk(walk: Walk | undefined): boolean {
  return walk === undefined || walk.version < documentVersion
}

async function rebuildDocuments(context: CatalogueContext): Promise<void> {
  for (let left = documentsPerRun; left > 0 && !context.closing.aborted; left -= documentsPerWrite) {
    if (!(await context.database.writer.write((trx) => rebuildDocumentBatch(context, trx), { bulk: true }))) return
    await setImmediate()
  }
}

/**
 * Rebuilds a batch of documents. Returns false at the end. Reads in the writing transaction: a skill may change between
 * a read and a write.
 */
async function rebuildDocumentBatch(context: CatalogueContext, trx: WriteTransaction): Promise<boolean> {
  const walk = await readDocumentWalk(trx)
  if (walk?.after === undefined || walk.version !== documentVersion) return false
  const skills = await trx
    .selectFrom('skills')
    .innerJoin('skill_documents', 'skill_documents.skill_id', 'skills.id')
    .select(['num', 'skill_id', 'document'])
    .where('num', '>', walk.after)
    .orderBy('num')
    .limit(documentsPerWrite)
    .execute()
  for (const { skill_id, document: stored } of skills) {
    const document = await toCurrentDocument(trx, skill_id, stored)
    if (document === stored) continue
    await trx.updateTable('skill_documents').set({ document }).where('skill_id', '=', skill_id).execute()
    const { requires, frontmatter, digest } = parseJson<SkillDetails>(document)
    const skill = await trx.selectFrom('skills').selectAll().where('id', '=', skill_id).executeTakeFirstOrThrow()
    const loaded_by = digest === null ? 0 : toLoadedBy(frontmatter, skill.name)
    await trx.updateTable('skills').set({ loaded_by }).where('id', '=', skill_id).execute()
    await storeRequirements(trx, {
      before: skill,
      skill,
      requires,
      hasRequirements: true,
      isNamed: true,
      at: context.clock.now(),
    })
  }
  const last = skills.at(-1)
  await putDocumentWalk(trx, { version: documentVersion, ...(last && { after: last.num }) })
  return last !== undefined
}

async function readDocumentWalk(db: Kysely<Tables>): Promise<Walk | undefined> {
  const value = await findMeta(db, documentsMetaKey)
  return value === undefined ? undefined : parseJson<Walk>(value)
}

async function putDocumentWalk(trx: WriteTransaction, walk: Walk): Promise<void> {
  await putMeta(trx, documentsMetaKey, JSON.stringify(walk))
}

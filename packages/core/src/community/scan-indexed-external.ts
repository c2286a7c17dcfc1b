import { RegistryError, limits } from '@skillstead/protocol'
import { parseSkillMd, readSkillFields } from '@skillstead/skill-format'
import type { CommunityContext } from './community-context.ts'
import type { ExternalSkillRow } from '../storage/rows-usage.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { recordScan, scanSource } from './scan-external.ts'
import { parseSource, type ExternalSource } from './external-source.ts'

const topic = 'external.scan'
const minuteMs = 60_000
/** After the last retry, the skill stays in the index without a scan. */
const retryDelaysMs = [minuteMs, 10 * minuteMs, 60 * minuteMs, 6 * 60 * minuteMs]

/** Schedules the scan of an indexed skill; at most one is pending per skill. */
export async function enqueueScan(context: CommunityContext, trx: WriteTransaction, id: string): Promise<void> {
  await context.outbox.enqueue(trx, { topic, payload: { id }, uniqueKey: `${topic} ${id}` })
}

/** Handles scan jobs of indexed skills from the outbox. */
export function handleExternalScans(context: CommunityContext): void {
  context.outbox.handle(topic, { retryDelaysMs, handle: ({ id }) => scanIndexed(context, String(id)) })
}

async function scanIndexed(context: CommunityContext, id: string): Promise<void> {
  const row = await context.database.read
    .selectFrom('external_skills')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return
  try {
    const source = parseSource(row.url)
    const { report, text } = await scanSource(context, source)
    await context.database.writer.write(async (trx) => {
      await recordScan(trx, source, report)
      await describe(trx, row, source, text)
    })
  } catch (error) {
    // A host that is not public is not retried.
    if (!(error instanceof RegistryError && error.code === 'invalid_request')) throw error
  }
}

/** Fills missing fields from the skill's own frontmatter. A name by which it was requested is unchanged. */
async function describe(
  trx: WriteTransaction,
  row: ExternalSkillRow,
  source: ExternalSource,
  text: string,
): Promise<void> {
  const { name, displayName, description } = readSkillFields(parseSkillMd(text))
  const written = toLine(name ?? displayName ?? '', nameCharactersMax)
  const isNameFree = source.rootIfNamed === undefined && row.name === source.name && written !== ''
  const change = {
    name: isNameFree ? written : row.name,
    description: row.description || toLine(description ?? '', limits.descriptionCharactersMax),
  }
  // Only if the row is unchanged: an administrator may have edited it meanwhile.
  const unchanged = trx.updateTable('external_skills').where('name', '=', row.name)
  await unchanged.set(change).where('description', '=', row.description).where('id', '=', row.id).execute()
}

const nameCharactersMax = 128

/** Text that both databases can store and that is safe to display. */
function toLine(text: string, charactersMax: number): string {
  return text
    .slice(0, charactersMax)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .toWellFormed()
}

import type { Context } from './context.ts'
import { sql } from 'kysely'
import type { Registry } from './registry.ts'
import { recordAudit } from './audit.ts'
import { systemCaller } from './caller.ts'
import { countUnscanned } from './security/rescan.ts'
import { findDrift, recomputeStandings } from './reputation/recompute.ts'
import { checkLog } from './transparency/check-log.ts'

/** One thing that was looked at. */
export interface Finding {
  readonly name: string
  readonly ok: boolean
  /** A sentence for the operator. */
  readonly detail: string
}

/** Looks at what can be wrong with a registry without changing anything. */
export async function checkRegistry(registry: Registry): Promise<Finding[]> {
  const ready = await registry.readiness()
  return [
    await checkDatabase(registry),
    {
      name: 'disk',
      ok: ready.disk,
      detail: ready.disk ? 'There is room.' : 'There is less than 64 MiB left; writes will fail.',
    },
    await checkBlobs(registry),
    await checkSearch(registry),
    { name: 'log', ...(await checkLog(registry)) },
    await checkScans(registry),
    await checkReputations(registry),
    await checkOutbox(registry),
  ]
}

/** Mends what {@link checkRegistry} can find wrong and what can be computed anew: the finding `reputation`. */
export async function mendRegistry({ database, clock }: Registry): Promise<void> {
  await database.writer.write(async (trx) => {
    const at = clock.now()
    const { standings, skills } = await recomputeStandings(trx, at)
    const data = { standings: standings.length, skills: skills.size }
    await recordAudit(trx, { caller: systemCaller, action: 'reputation.recompute', subject: '', at, data })
  })
}

async function checkDatabase({ database }: Context): Promise<Finding> {
  const counts = await Promise.all(
    (['users', 'skills', 'versions'] as const).map((table) => count(database.read.selectFrom(table))),
  )
  const detail = `${database.dialect}: ${counts[0]} users, ${counts[1]} skills, ${counts[2]} versions.`
  if (database.dialect === 'postgres') return { name: 'database', ok: true, detail }
  const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(database.read)
  const ok = rows[0]?.quick_check === 'ok'
  return {
    name: 'database',
    ok,
    detail: ok ? detail : `The file is damaged: ${rows[0]?.quick_check}. Restore a backup.`,
  }
}

async function checkBlobs({ database }: Context): Promise<Finding> {
  const missing = await count(
    database.read
      .selectFrom('version_files')
      .leftJoin('blobs', 'blobs.digest', 'version_files.digest')
      .where('blobs.digest', 'is', null),
  )
  const detail =
    missing === 0
      ? 'Every file of every version is there.'
      : `${missing} files of versions are missing. Restore a backup.`
  return { name: 'blobs', ok: missing === 0, detail }
}

async function checkSearch({ database }: Context): Promise<Finding> {
  const skills = await count(database.read.selectFrom('skills').where('state', '!=', 'withdrawn'))
  const texts = await count(database.read.selectFrom(sql<{ num: number }>`skill_text`.as('skill_text')))
  const ok = skills === texts
  return {
    name: 'search',
    ok,
    detail: ok
      ? `All ${skills} skills are in the full-text index.`
      : `${texts} of ${skills} skills are in the full-text index.`,
  }
}

/** Those that wait are no fault: a node scans them while it runs. */
async function checkScans(registry: Registry): Promise<Finding> {
  const waiting = await countUnscanned(registry)
  const detail =
    waiting === 0 ? 'Every version is scanned by the current rules.' : `${waiting} versions wait for the current rules.`
  return { name: 'scans', ok: true, detail }
}

async function checkReputations({ database }: Context): Promise<Finding> {
  // Among the writes, so that nothing changes between one table that is read and the next.
  const { authors, skills, standings, badges } = await database.writer.write(findDrift)
  const wrong = new Set([...standings.map(({ user_id }) => user_id), ...badges.map(({ userId }) => userId)]).size
  const ok = wrong === 0 && skills.size === 0
  return {
    name: 'reputation',
    ok,
    detail: ok
      ? `All ${authors} reputations are what they should be.`
      : `${wrong} reputations and what ${skills.size} skills are counted with are not what they should be. Run doctor --mend.`,
  }
}

/** What is overdue is no fault of the database: no node may have run for a while. */
async function checkOutbox({ outbox, clock }: Context): Promise<Finding> {
  const { pending, failed, oldestDueAt } = await outbox.figures()
  const minutes = oldestDueAt === null ? 0 : Math.floor((clock.now() - oldestDueAt) / 60_000)
  const overdue = minutes < 1 ? '' : `, one of them overdue for ${toDuration(minutes)}: does a node run?`
  return { name: 'outbox', ok: true, detail: `${failed} failed, ${pending} waiting${overdue || '.'}` }
}

function toDuration(minutes: number): string {
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / (24 * 60))} days`
}

async function count(query: { select(count: unknown): unknown }): Promise<number> {
  const counted = query.select(sql<number>`count(*)`.as('count')) as {
    executeTakeFirstOrThrow(): Promise<{ count: number }>
  }
  return (await counted.executeTakeFirstOrThrow()).count
}

import { type Kysely, sql } from 'kysely'
import { systemCaller } from '@skillstead/core'
import {
  countRows,
  countUnscanned,
  findDrift,
  hasDiskSpace,
  noBucketAdvice,
  recomputeStandings,
  recordAudit,
  type Tables,
} from '@skillstead/core/internal'
import { lostAdvice, restoreAdvice, type Check } from './finding.ts'
import { checkLog } from './check-log.ts'
import { repairText } from './skill-texts.ts'
import { noticeMovedTexts } from './text-drift.ts'

/** SQLite's quick check of its file; PostgreSQL manages its own files. */
export const quickDatabaseCheck: Check = {
  name: 'database',
  async run({ database }) {
    const detail = await describeDatabase(database)
    if (database.dialect === 'postgres') return { ok: true, detail }
    await noticeMovedTexts(database.read)
    const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(database.read)
    const found = rows[0]?.quick_check
    return found === 'ok'
      ? { ok: true, detail }
      : { ok: false, detail: `The file is damaged: ${found}. ${restoreAdvice}` }
  },
}

/** A summary of the database's content. */
export async function describeDatabase({ dialect, read }: Parameters<Check['run']>[0]['database']): Promise<string> {
  const tables = ['users', 'skills', 'versions'] as const
  const counts = await Promise.all(tables.map((table) => countRows(read.selectFrom(table))))
  return `${dialect}: ${counts[0]} users, ${counts[1]} skills, ${counts[2]} versions.`
}

export const diskCheck: Check = {
  name: 'disk',
  async run(context) {
    const disk = await hasDiskSpace(context.database)
    const detail = disk
      ? 'There is enough free space.'
      : 'Less than 64 MiB are free, and writes will fail. Free some space.'
    return { ok: disk, detail }
  },
}

/** Whether each file of each version has a row of content. Only a check with `deep` reads the contents. */
export const blobsCheck: Check = {
  name: 'blobs',
  async run({ database }, _report, faults) {
    const missing = await countRows(
      database.read
        .selectFrom('version_files')
        .leftJoin('blobs', 'blobs.digest', 'version_files.digest')
        .where('blobs.digest', 'is', null),
    )
    for (const { digest, file } of await listLost(database.read))
      faults.add(`The bucket lost or altered ${file} (${digest}).`)
    const inBucket = await countRows(database.read.selectFrom('blobs').where('place', 'in', ['bucket', 'lost']))
    if (inBucket > 0 && !database.bucket) return { ok: false, detail: noBucketAdvice }
    const waiting = await countRows(database.read.selectFrom('blobs').where('place', '=', 'waiting'))
    const also = inBucket + waiting > 0 ? ` ${inBucket} contents are in the bucket, and ${waiting} wait for it.` : ''
    if (missing === 0) return faults.toOutcome(`Every file of every version exists.${also}`, lostAdvice)
    return { ok: false, detail: `${missing} files of versions are missing. ${restoreAdvice}` }
  },
}

/** Selects the files that the bucket no longer had when they were read, each with one of its versions. */
function listLost(db: Kysely<Tables>) {
  return db
    .selectFrom('blobs')
    .innerJoin('version_files', 'version_files.digest', 'blobs.digest')
    .innerJoin('versions', 'versions.id', 'version_files.version_id')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select(['blobs.digest', sql<string>`min(path || ' of ' || full_name || '@' || version)`.as('file')])
    .where('place', '=', 'lost')
    .groupBy('blobs.digest')
    .execute()
}

export const searchCheck: Check = {
  name: 'search',
  async run({ database }) {
    const skills = await countRows(database.read.selectFrom('skills').where('state', '!=', 'withdrawn'))
    const texts = await countRows(database.read.selectFrom(sql<{ num: number }>`skill_text`.as('skill_text')))
    if (skills === texts) return { ok: true, detail: `All ${skills} skills are in the full-text index.` }
    const detail = `The full-text index has ${texts} skills, but the catalogue has ${skills}. Run doctor --repair.`
    return { ok: false, detail, repairable: true }
  },
  repair: repairText,
}

/** Recomputes the log's tree, which is fast enough for the quick check. */
export const logCheck: Check = { name: 'log', run: (context) => checkLog(context) }

/** Reports pending scans, which are not a fault: a node runs them in the background. */
export const scansCheck: Check = {
  name: 'scans',
  async run(context) {
    const waiting = await countUnscanned(context)
    const detail =
      waiting === 0
        ? 'Every version is scanned by the current rules.'
        : `${waiting} versions are not yet scanned by the current rules.`
    return { ok: true, detail }
  },
}

const unusedMs = 90 * 86_400_000
const namedKeysMax = 5

/** Reports unused API keys. They are no fault, but each of them could leak. */
export const keysCheck: Check = {
  name: 'keys',
  async run({ database, clock }) {
    const valid = database.read
      .selectFrom('api_keys')
      .innerJoin('users', 'users.id', 'api_keys.user_id')
      .where('users.disabled', '=', 0)
      .where((eb) => eb.or([eb('api_keys.expires_at', 'is', null), eb('api_keys.expires_at', '>', clock.now())]))
    const unused = valid.where(
      ({ fn }) => fn.coalesce('api_keys.last_used_at', 'api_keys.created_at'),
      '<',
      clock.now() - unusedMs,
    )
    const [total, count] = [await countRows(valid), await countRows(unused)]
    if (count === 0) return { ok: true, detail: `All ${total} valid API keys were used in the last 90 days.` }
    const first = await unused
      .select(['api_keys.name', 'api_keys.prefix', 'users.username'])
      .orderBy('api_keys.id')
      .limit(namedKeysMax)
      .execute()
    const named = first.map(({ name, prefix, username }) => `${prefix}... '${name}' of ${username}`).join(', ')
    const more = count > namedKeysMax ? ` and ${count - namedKeysMax} more` : ''
    return { ok: true, detail: `${count} of ${total} valid API keys were not used in 90 days: ${named}${more}.` }
  },
}

export const reputationCheck: Check = {
  name: 'reputation',
  async run({ database }) {
    // In a write transaction, so that neither reputations nor the rows behind them change during the comparison.
    const { authors, skills, standings, badges } = await database.writer.write(findDrift)
    const wrong = new Set([...standings.map(({ user_id }) => user_id), ...badges.map(({ userId }) => userId)]).size
    if (wrong === 0 && skills.size === 0) {
      return { ok: true, detail: `All ${authors} reputations are correct.` }
    }
    const detail = `${wrong} reputations and the credits of ${skills.size} skills are wrong. Run doctor --repair.`
    return { ok: false, detail, repairable: true }
  },
  async repair({ database, clock }) {
    await database.writer.write(async (trx) => {
      const at = clock.now()
      const { standings, skills } = await recomputeStandings(trx, at)
      const data = { standings: standings.length, skills: skills.size }
      await recordAudit(trx, { caller: systemCaller, action: 'reputation.recompute', subject: '', at, data })
    })
  },
}

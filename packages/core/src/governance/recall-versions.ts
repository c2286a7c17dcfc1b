import { limits, type Recall, type Recalls, RegistryError, toTimestamp } from '@skillstead/protocol'
import { parseVersionRange, rangeForms } from '@skillstead/skill-format'
import type { Kysely } from 'kysely'
import { changeSkill } from '../catalogue/skills/change-skill.ts'
import { getSkill } from '../catalogue/skills/find-skill.ts'
import { activeRecallsMax, countActiveRecalls, putRecalls, withRecall } from '../catalogue/skills/put-recalls.ts'
import { readRecalls, type StoredRecall } from '../catalogue/versions/recalls.ts'
import type { Caller } from '../kernel/caller.ts'
import { invalidFields } from '../kernel/field-errors.ts'
import { newId } from '../kernel/ids.ts'
import type { Input } from '../kernel/operation-input.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { hasRight, isAdministrator } from '../visibility/rights.ts'
import { getDecidedSkill } from './find-any-skill.ts'
import type { GovernanceContext } from './governance-context.ts'

/** Versions of a recall in an answer. */
const shownMax = 100

/**
 * POST /skills/<name>/recalls, for the owner, those who may manage the skill, and administrators. Covers the published
 * versions in the range and those published later. Throws `invalid_skill` for a range that is not valid or in which no
 * version is or can follow the latest ones.
 */
export async function recallSkill(
  context: GovernanceContext,
  input: Input<'recallSkill'>,
  caller: Caller,
): Promise<Recall> {
  const found = await getDecidedSkill(context, input.name, caller)
  const range = readRange(input.range)
  const reason = input.reason.replaceAll(/\s+/g, ' ').trim()
  const recall: StoredRecall = { id: newId(), range, reason, at: context.clock.now() }
  const skill = await changeRecalls(context, caller, found, recall, async (trx, before) => {
    const recalls = readRecalls(before)
    if (countActiveRecalls(recalls) >= activeRecallsMax)
      throw new RegistryError(
        'conflict',
        `${before.full_name} has ${activeRecallsMax} active recalls, the maximum. End one, or recall a wider range.`,
      )
    await requireMatch(trx, before, range)
    return withRecall(recalls, recall)
  })
  return toRecall(context.database.read, skill, recall)
}

/** DELETE /skills/<name>/recalls/<id>: ends a recall. Throws `conflict` for a recall of an upstream. */
export async function endRecall(
  context: GovernanceContext,
  input: Input<'endRecall'>,
  caller: Caller,
): Promise<Recall> {
  const found = await getDecidedSkill(context, input.name, caller)
  const active = requireRecall(found, input.id)
  const ended = { ...active, endedAt: active.endedAt ?? context.clock.now() }
  const skill = await changeRecalls(context, caller, found, ended, async (_trx, before) => {
    const now = requireRecall(before, input.id)
    if (now.upstream)
      throw new RegistryError(
        'conflict',
        `This recall came from ${before.origin_upstream ?? 'an upstream'}, where alone it can be ended. ` +
          'This node then follows at its next sync.',
      )
    return now.endedAt === undefined ? withRecall(readRecalls(before), ended) : undefined
  })
  return toRecall(context.database.read, skill, requireRecall(skill, input.id))
}

/** GET /skills/<name>/recalls: for the owner and administrators also who has a recalled version, as counts. */
export async function listRecalls(
  context: GovernanceContext,
  input: Input<'listRecalls'>,
  caller: Caller,
): Promise<Recalls> {
  const { read } = context.database
  const skill = await getSkill(context, input.name, caller)
  const recalls: Recall[] = []
  for (const recall of readRecalls(skill)) recalls.push(await toRecall(read, skill, recall))
  const isInsider = isAdministrator(caller) || (await hasRight(read, skill, caller, 'manage'))
  return isInsider ? { recalls, known: await readKnown(context, skill) } : { recalls }
}

/** Stores other recalls of a skill, with a log entry about one of them; no change if `work` returns undefined. */
function changeRecalls(
  context: GovernanceContext,
  caller: Caller,
  skill: SkillRow,
  recall: StoredRecall,
  work: (trx: WriteTransaction, before: SkillRow) => Promise<StoredRecall[] | undefined>,
): Promise<SkillRow> {
  const { id, range, reason } = recall
  const action = recall.endedAt === undefined ? 'skill.recall' : 'skill.recall.end'
  const right = isAdministrator(caller) ? undefined : ('manage' as const)
  const what = {
    action,
    subject: skill.full_name,
    cause: { type: 'recall', recall } as const,
    data: { id, range, reason },
  }
  return changeSkill(context, caller, skill, { ...what, ...(right && { right }) }, async (trx, before) => {
    const recalls = await work(trx, before)
    if (!recalls) return false
    await putRecalls(context, trx, before, recalls, recall)
    return true
  })
}

function readRange(text: string): string {
  const range = parseVersionRange(text)
  if (range) return range.text
  const message = `must be ${rangeForms}, of at most ${limits.rangeCharactersMax} characters`
  throw invalidFields('invalid_skill', [{ path: 'range', message }])
}

/** A range in which no version is, and none above the highest can be, is a mistake. */
async function requireMatch(trx: WriteTransaction, { id, full_name }: SkillRow, text: string): Promise<void> {
  const range = parseVersionRange(text)!
  const versions = await selectVersions(trx, id)
  if (versions.some((version) => range.includes(version))) return
  const [highest = '0.0.0'] = versions
  if (range.reachesAbove(highest)) return
  const message = `matches no version of ${full_name}, nor any above ${highest}, its highest`
  throw invalidFields('invalid_skill', [{ path: 'range', message }])
}

async function selectVersions(db: Kysely<Tables>, skillId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('versions')
    .select('version')
    .where('skill_id', '=', skillId)
    .orderBy('sort_key', 'desc')
    .execute()
  return rows.map(({ version }) => version)
}

function requireRecall(skill: SkillRow, id: string): StoredRecall {
  const recall = readRecalls(skill).find((one) => one.id === id)
  if (recall) return recall
  throw new RegistryError('not_found', `${skill.full_name} has no recall with this id. List them with GET recalls.`)
}

async function toRecall(db: Kysely<Tables>, { id: skillId }: SkillRow, recall: StoredRecall): Promise<Recall> {
  const range = parseVersionRange(recall.range)
  const versions = (await selectVersions(db, skillId)).filter((version) => range?.includes(version))
  return {
    id: recall.id,
    range: recall.range,
    reason: recall.reason,
    at: toTimestamp(recall.at),
    ...(recall.endedAt !== undefined && { endedAt: toTimestamp(recall.endedAt) }),
    upstream: recall.upstream ?? false,
    versions: versions.slice(0, shownMax),
    versionCount: versions.length,
  }
}

/** Who is known to have a recalled version, from heartbeats and installs, without names. */
async function readKnown(
  { database: { read } }: StorageContext,
  { id }: SkillRow,
): Promise<NonNullable<Recalls['known']>> {
  const recalled = read
    .selectFrom('versions')
    .select('version')
    .where('skill_id', '=', id)
    .where('recalled_by', 'is not', null)
  const agents = await read
    .selectFrom('agent_skills')
    .innerJoin('agents', 'agents.id', 'agent_skills.agent_id')
    .select((eb) => ['version', 'platform_id as platform', eb.fn.countAll<number>().as('count')])
    .where('skill_id', '=', id)
    .where('version', 'in', recalled)
    .groupBy(['version', 'platform_id'])
    .orderBy('count', 'desc')
    .orderBy('version')
    .orderBy('platform_id')
    .limit(shownMax)
    .execute()
  const users = await read
    .selectFrom('installers')
    .select((eb) => ['version', eb.fn.countAll<number>().as('count')])
    .where('skill_id', '=', id)
    .where('version', 'in', recalled)
    .groupBy('version')
    .orderBy('count', 'desc')
    .orderBy('version')
    .limit(shownMax)
    .execute()
  return {
    agents: agents.map((row) => ({ ...row, count: Number(row.count) })),
    users: users.map((row) => ({ ...row, count: Number(row.count) })),
  }
}

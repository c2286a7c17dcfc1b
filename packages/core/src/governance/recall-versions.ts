import { limits, type Recall, RegistryError } from '@skillstead/protocol'
import { parseVersionRange, rangeForms } from '@skillstead/skill-format'
import { changeSkill } from '../catalogue/skills/change-skill.ts'
import { getSkill } from '../catalogue/skills/find-skill.ts'
import {
  activeRecallsMax,
  countActiveRecalls,
  emitRecall,
  storeRecalls,
  withRecall,
} from '../catalogue/skills/store-recalls.ts'
import {
  readRecalls,
  selectVersionNumbers,
  type StoredRecall,
  toCovered,
  toShownRecall,
} from '../catalogue/versions/recalls.ts'
import type { Caller } from '../kernel/caller.ts'
import { invalidFields } from '../kernel/field-errors.ts'
import { newId } from '../kernel/ids.ts'
import type { Operation } from '../kernel/operation-input.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { hasRight, isAdministrator } from '../visibility/rights.ts'
import { findDecidedSkill, getDecidedSkill } from './find-any-skill.ts'
import type { GovernanceContext } from './governance-context.ts'

/** Maximum number of rows in each list of agents and users that have a recalled version. */
const knownMax = 100

/**
 * POST /skills/<name>/recalls, for users who may manage the skill, and administrators: recalls the versions in a range,
 * published before or after the recall. Throws `invalid_request` for a range that is not valid, or that contains no
 * version of the skill and no version above the highest one.
 */
export const recallSkill: Operation<'recallSkill', GovernanceContext> = async (context, input, caller) => {
  const found = await getDecidedSkill(context, input.name, caller)
  const range = readRange(input.range)
  const reason = input.reason.replaceAll(/\s+/g, ' ').trim()
  const isManager = await hasRight(context.database.read, found, caller, 'manage')
  const byAdministrator = !isManager && isAdministrator(caller) ? ({ byAdministrator: true } as const) : {}
  const recall: StoredRecall = { id: newId(), range, reason, at: context.clock.now(), ...byAdministrator }
  const skill = await changeRecalls(context, caller, found, recall, async (trx, before) => {
    const recalls = readRecalls(before)
    if (findEqual(recalls, recall)) return undefined
    if (countActiveRecalls(recalls) >= activeRecallsMax)
      throw new RegistryError(
        'conflict',
        `${before.full_name} has ${activeRecallsMax} active recalls, the maximum. End one, or recall a wider range.`,
      )
    await requireMatch(trx, before, range)
    return withRecall(recalls, recall)
  })
  return readRecall(context, skill, findEqual(readRecalls(skill), recall) ?? recall)
}

/** The active recall of this node with the same range and reason, so that a repeated request adds no second recall. */
function findEqual(recalls: readonly StoredRecall[], wanted: StoredRecall): StoredRecall | undefined {
  return recalls.find(
    ({ range, reason, endedAt, upstream, byAdministrator }) =>
      endedAt === undefined &&
      !upstream &&
      range === wanted.range &&
      reason === wanted.reason &&
      byAdministrator === wanted.byAdministrator,
  )
}

/**
 * DELETE /skills/<name>/recalls/<id>: ends a recall. Throws `conflict` for a recall that came from an upstream, and
 * `forbidden` for a recall by an administrator if the caller is no administrator. The response lists in `stillRecalled`
 * the versions that another recall still covers.
 */
export const endRecall: Operation<'endRecall', GovernanceContext> = async (context, input, caller) => {
  const found = await getDecidedSkill(context, input.name, caller)
  const active = requireRecall(found, input.id)
  const ended = { ...active, endedAt: active.endedAt ?? context.clock.now() }
  const skill = await changeRecalls(context, caller, found, ended, async (_trx, before) => {
    const now = requireRecall(before, input.id)
    if (now.upstream)
      throw new RegistryError(
        'conflict',
        `This recall came from ${before.origin_upstream ?? 'an upstream'}, and only its owner there can end it. ` +
          'This node then ends it too, at its next sync.',
      )
    if (now.byAdministrator && !isAdministrator(caller))
      throw new RegistryError(
        'forbidden',
        'An administrator of this node made this recall, and only administrators can end it. Ask them.',
      )
    return now.endedAt === undefined ? withRecall(readRecalls(before), ended) : undefined
  })
  const recall = requireRecall(skill, input.id)
  const { read } = context.database
  const { versions: stillRecalled } = await toCovered(recall, await selectVersionNumbers(read, skill.id, 'recalled'))
  return { ...(await readRecall(context, skill, recall)), stillRecalled }
}

/**
 * GET /skills/<name>/recalls: the recalls of a skill. Administrators and users who may manage the skill also get the
 * numbers of agents and users that have a recalled version.
 */
export const listRecalls: Operation<'listRecalls', GovernanceContext> = async (context, input, caller) => {
  const { read } = context.database
  const skill = (await findDecidedSkill(context, input.name, caller)) ?? (await getSkill(context, input.name, caller))
  const all = readRecalls(skill)
  const versions = all.length > 0 ? await selectVersionNumbers(read, skill.id) : []
  const recalls: Recall[] = []
  for (const recall of all) recalls.push(await toRecall(recall, versions))
  const isInsider = isAdministrator(caller) || (await hasRight(read, skill, caller, 'manage'))
  return isInsider ? { recalls, known: await readKnown(context, skill) } : { recalls }
}

/**
 * Replaces the recalls of a skill by those that `work` returns, with a log entry and an event about `recall`. Changes
 * nothing if `work` returns undefined.
 */
function changeRecalls(
  context: GovernanceContext,
  caller: Caller,
  skill: SkillRow,
  recall: StoredRecall,
  work: (trx: WriteTransaction, before: SkillRow) => Promise<StoredRecall[] | undefined>,
): Promise<SkillRow> {
  const { id, range, reason } = recall
  const action = recall.endedAt === undefined ? 'skill.recall' : 'skill.recall.end'
  const what = {
    action,
    subject: skill.full_name,
    cause: { type: 'recall', recall } as const,
    ...(!isAdministrator(caller) && { right: 'manage' as const }),
    data: { id, range, reason },
  }
  return changeSkill(context, caller, skill, what, async (trx, before) => {
    const recalls = await work(trx, before)
    if (!recalls) return false
    await storeRecalls(trx, before.id, recalls)
    await emitRecall(context, trx, before, recall)
    return true
  })
}

function readRange(text: string): string {
  const range = parseVersionRange(text)
  if (range) return range.text
  const message = `must be ${rangeForms}, of at most ${limits.rangeCharactersMax} characters`
  throw invalidFields('invalid_request', [{ path: 'range', message }])
}

/**
 * Throws `invalid_request` for a range that contains no version of the skill and no version above its highest: such a
 * range is a mistake.
 */
async function requireMatch(trx: WriteTransaction, { id, full_name }: SkillRow, text: string): Promise<void> {
  const range = parseVersionRange(text)!
  const versions = await selectVersionNumbers(trx, id)
  if (versions.some((version) => range.includes(version))) return
  const [highest = '0.0.0'] = versions
  if (range.reachesAbove(highest)) return
  const message = `matches no version of ${full_name}, nor any above ${highest}, its highest`
  throw invalidFields('invalid_request', [{ path: 'range', message }])
}

function requireRecall(skill: SkillRow, id: string): StoredRecall {
  const recall = readRecalls(skill).find((one) => one.id === id)
  if (recall) return recall
  throw new RegistryError('not_found', `${skill.full_name} has no recall with this id. List them with GET recalls.`)
}

async function readRecall({ database }: StorageContext, skill: SkillRow, recall: StoredRecall): Promise<Recall> {
  return toRecall(recall, await selectVersionNumbers(database.read, skill.id))
}

async function toRecall(recall: StoredRecall, versions: readonly string[]): Promise<Recall> {
  return {
    ...(await toShownRecall(recall, versions)),
    upstream: recall.upstream ?? false,
    ...(recall.byAdministrator && { byAdministrator: true }),
  }
}

/** The numbers of agents (by heartbeats) and of users (by installs) that have a recalled version, without names. */
async function readKnown({ database: { read } }: StorageContext, { id }: SkillRow) {
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
    .limit(knownMax)
    .execute()
  const users = await read
    .selectFrom('installers')
    .select((eb) => ['version', eb.fn.countAll<number>().as('count')])
    .where('skill_id', '=', id)
    .where('version', 'in', recalled)
    .groupBy('version')
    .orderBy('count', 'desc')
    .orderBy('version')
    .limit(knownMax)
    .execute()
  return {
    agents: agents.map((row) => ({ ...row, count: Number(row.count) })),
    users: users.map((row) => ({ ...row, count: Number(row.count) })),
  }
}

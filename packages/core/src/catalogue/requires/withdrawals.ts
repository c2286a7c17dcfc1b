import { setImmediate } from 'node:timers/promises'
import { parseVersionRange } from '@skillstead/skill-format'
import { hourMs, minuteMs } from '../../kernel/clock.ts'
import type { Topic } from '../../outbox/jobs.ts'
import type { SkillRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import { isShownToAll, keepReaders } from '../../visibility/decisions.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { offeredVersion } from '../versions/recalls.ts'
import { toPublicName } from '../versions/skill-document.ts'
import { selectDependents } from './requirement-rows.ts'

/** Versions that are no longer offered. */
interface Withdrawal {
  readonly versions: readonly string[]
  readonly reason: 'yanked' | 'recalled'
}

const topic: Topic<Withdrawal & { readonly skillId: string }> = 'skill.withdrawal'
const dependentsPerWrite = 50

/**
 * Queues the notices to the owners of skills whose requirements included versions that were just withdrawn, in the
 * transaction of the change. Costs one query if no other skill requires `skill`.
 */
export async function queueWithdrawal(
  { outbox }: Pick<CatalogueContext, 'outbox'>,
  trx: WriteTransaction,
  { skill, ...withdrawal }: Withdrawal & { readonly skill: SkillRow },
): Promise<void> {
  const dependent = await selectDependents(trx, skill.id).select('skills.id').limit(1).executeTakeFirst()
  if (dependent) await outbox.enqueue(trx, { topic, payload: { skillId: skill.id, ...withdrawal } })
}

/** Emits `skill.dependency.withdrawn` for each dependent of a withdrawal, a few in each transaction. */
export function handleWithdrawals(context: CatalogueContext): void {
  context.outbox.handle(topic, {
    retryDelaysMs: [minuteMs, 10 * minuteMs, hourMs],
    async handle({ skillId, ...withdrawal }) {
      for (let after: string | undefined = ''; after !== undefined; await setImmediate()) {
        // A failed attempt is repeated: notices may come twice, but none is lost.
        context.closing.throwIfAborted()
        after = await context.database.writer.write((trx) => emitSome(context, trx, { skillId, ...withdrawal }, after!))
      }
    },
  })
}

/** Emits a batch of events. Returns the id of the last dependent in the batch; undefined after the last batch. */
async function emitSome(
  context: CatalogueContext,
  trx: WriteTransaction,
  { skillId, versions, reason }: Withdrawal & { readonly skillId: string },
  after: string,
): Promise<string | undefined> {
  const skill = await trx.selectFrom('skills').selectAll().where('id', '=', skillId).executeTakeFirst()
  if (!skill) return undefined
  const dependents = await selectDependents(trx, skillId)
    .selectAll('skills')
    .select('requirements.range')
    .where('skills.state', '!=', 'withdrawn')
    .where('skills.id', '>', after)
    .orderBy('skills.id')
    .limit(dependentsPerWrite)
    .execute()
  const offered = await trx
    .selectFrom('versions')
    .select('version')
    .where('skill_id', '=', skillId)
    .where(offeredVersion)
    .orderBy('sort_key', 'desc')
    .execute()
  for (const { range: text, ...dependent } of dependents) {
    const range = parseVersionRange(text)
    if (!range || !versions.some(range.includes) || !(await isKnownToOwner(trx, skill, dependent))) continue
    await context.events.emit(trx, {
      event: 'skill.dependency.withdrawn',
      ownerId: dependent.owner_id,
      skill: dependent,
      data: () => ({
        skill: { id: dependent.id, name: toPublicName(dependent), fullName: dependent.full_name },
        dependency: { fullName: skill.full_name, range: text, versions: [...versions], reason },
        replacement: offered.find(({ version }) => range.includes(version))?.version ?? null,
      }),
    })
  }
  return dependents.length < dependentsPerWrite ? undefined : dependents.at(-1)!.id
}

/** Whether the owner of a dependent may see the skill: other owners get no notice about the skill. */
async function isKnownToOwner(trx: WriteTransaction, skill: SkillRow, dependent: SkillRow): Promise<boolean> {
  if (isShownToAll(skill) || skill.owner_id === dependent.owner_id) return true
  const owner = { userId: dependent.owner_id, username: dependent.owner, role: 'user' as const }
  return (await keepReaders(trx, skill, [owner])).length > 0
}

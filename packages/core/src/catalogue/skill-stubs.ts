import { recordAudit } from '../log/audit.ts'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import type { SkillRow, UserRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { refreshSkill } from './refresh-skill.ts'
import { findTarget, insertSkill } from './skill-rows.ts'

interface Stub {
  readonly owner: Pick<UserRow, 'id' | 'username'>
  readonly name: string
  readonly description: string
  readonly repository: string
}

/**
 * Creates a stub: a skill of which only the name is known, in an unclaimed namespace. Lists include it only on request,
 * and it becomes a skill when its owner publishes it. Returns an existing skill unchanged.
 */
export async function createStub(context: CatalogueContext, stub: Stub, caller: Caller): Promise<SkillRow> {
  return context.database.writer.write((trx) => putStub(context, trx, stub, caller))
}

/** As {@link createStub}, within a transaction. Throws `name_taken` and `taken_down` for names that are no longer free. */
export async function putStub(
  context: CatalogueContext,
  trx: WriteTransaction,
  stub: Stub,
  caller: Caller,
): Promise<SkillRow> {
  const existing = await findTarget(trx, `${stub.owner.username}/${stub.name}`)
  if (existing) return existing
  const at = context.clock.now()
  const id = await insertSkill(trx, { owner: stub.owner, fields: { name: stub.name } }, at)
  const columns = {
    stub: 1,
    description: stub.description,
    repository: stub.repository,
    origin_kind: 'external',
  } as const
  await trx.updateTable('skills').set(columns).where('id', '=', id).execute()
  await recordAudit(trx, { caller, action: 'skill.stub', subject: `${stub.owner.username}/${stub.name}`, at })
  return refreshSkill(context, trx, {
    skillId: id,
    before: undefined,
    cause: { type: 'skill' },
    at,
  })
}

import { RegistryError, type CopyReport } from '@skillstead/protocol'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { newId } from '../kernel/ids.ts'
import { getMovedSkill, getSkill, getSkillNow } from './find-skill.ts'
import { canSee } from './visibility.ts'
import type { CopyReportRow } from '../storage/rows-trust.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toCopyReport } from './copy-report-form.ts'
import { readLatest } from './read-body.ts'
import { comparerWith } from './similarity.ts'

/**
 * POST /skills/<name>/report-copy: stores a report with the similarity of the latest versions for administrators to
 * decide.
 */
export async function reportCopy(
  context: CatalogueContext,
  input: { name: string; originalSkillId: string; evidence: string },
  caller: Caller,
): Promise<CopyReport> {
  const { userId } = requireAccount(caller)
  const skill = await getSkill(context, input.name, caller)
  const original = await getOriginal(context, input.originalSkillId, caller)
  if (original.id === skill.id) throw notItself(skill)
  const [copy, source] = [await readLatest(context, skill), await readLatest(context, original)]
  const { similarity } = comparerWith(copy.words)(source.words)
  const row = await context.database.writer.write(async (trx) => {
    for (const found of [skill, original]) await getSkillNow(context, trx, found, caller)
    const pair = { skill_id: skill.id, original_skill_id: original.id, reporter_id: userId }
    await refuseRepeated(trx, pair)
    const report: CopyReportRow = {
      ...pair,
      id: newId(),
      status: 'open',
      similarity,
      evidence: input.evidence,
      note: '',
      created_at: context.clock.now(),
    }
    await trx.insertInto('copy_reports').values(report).execute()
    return report
  })
  return toCopyReport(row)
}

/** Finds the original by its id, else by its name: a name may look like an id. */
async function getOriginal(context: CatalogueContext, ref: string, caller: Caller): Promise<SkillRow> {
  const skill = await context.database.read.selectFrom('skills').selectAll().where('id', '=', ref).executeTakeFirst()
  return skill && (await canSee(context, skill, caller)) ? skill : getMovedSkill(context, ref, caller)
}

function notItself(skill: SkillRow): RegistryError {
  const message = `names ${skill.full_name} itself; name the skill that it was copied from.`
  const errors = [{ path: 'originalSkillId', message }]
  return new RegistryError('invalid_request', `originalSkillId ${message}`, { errors })
}

async function refuseRepeated(
  trx: WriteTransaction,
  pair: Pick<CopyReportRow, 'skill_id' | 'original_skill_id' | 'reporter_id'>,
): Promise<void> {
  const open = await trx
    .selectFrom('copy_reports')
    .select('id')
    .where('reporter_id', '=', pair.reporter_id)
    .where('skill_id', '=', pair.skill_id)
    .where('original_skill_id', '=', pair.original_skill_id)
    .where('status', '=', 'open')
    .executeTakeFirst()
  if (open) throw new RegistryError('conflict', 'You have already reported this copy. Wait for the decision.')
}

import { RegistryError, type DmcaCase } from '@skillstead/protocol'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Input } from '../kernel/operation-input.ts'
import type { DmcaCaseRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toFullCase } from './read-cases.ts'
import { acceptCounterNotice } from './takedown-notices.ts'
import { getCase, moveCase, requireCaseTransition } from './takedown-cases.ts'

/**
 * PATCH /dmca/<id>, for administrators: starts the review of a case, rejects it, removes the content, confirms the
 * sender of a counter-notice, or records a court action. Throws `invalid_transition`.
 */
export async function decideCase(
  context: CatalogueContext,
  input: Input<'updateDmca'>,
  caller: Caller,
): Promise<DmcaCase> {
  const row = await context.database.writer.write(async (trx) => {
    const before = await getCase(trx, input.id)
    requireCaseTransition(before.status, input.status, 'administrator')
    const move = { by: 'administrator', caller, note: input.note } as const
    if (input.status !== 'counter_noticed') return moveCase(context, trx, before, { to: input.status, ...move })
    const id = await getUnconfirmed(trx, before, input.counterNoticeId)
    return acceptCounterNotice(context, trx, before, { id, ...move })
  })
  return toFullCase(context.database.read, row)
}

/**
 * The unconfirmed counter-notice that the administrator named: another one may have arrived after the administrator
 * read the case. If there is only one, its id may be omitted.
 */
async function getUnconfirmed(trx: WriteTransaction, row: DmcaCaseRow, wanted: string | undefined): Promise<string> {
  const waiting = await trx.selectFrom('dmca_counter_notices').select('id').where('case_id', '=', row.id).execute()
  if (waiting.length === 0)
    throw new RegistryError('invalid_transition', 'This case has no unconfirmed counter-notice.')
  if (wanted === undefined && waiting.length > 1)
    throw new RegistryError('conflict', 'This case has several unconfirmed counter-notices. Specify `counterNoticeId`.')
  const found = wanted === undefined ? waiting[0] : waiting.find(({ id }) => id === wanted)
  if (!found) throw new RegistryError('not_found', 'This case has no counter-notice with this id.')
  return found.id
}

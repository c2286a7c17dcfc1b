import { RegistryError, type DmcaCase } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { GovernanceContext } from './governance-context.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import type { DmcaCaseRow, DmcaStatus } from '../storage/tables.ts'
import { isTokenOf } from '../kernel/tokens.ts'
import { toFullCase, toFullCases, toPublicCase } from './case-form.ts'
import { getCase } from './find-case.ts'

/** GET /dmca/<id>: status and dates; the full case with the case token or for administrators. */
export async function showCase(
  context: GovernanceContext,
  input: { id: string },
  caller: Caller,
  options: CallOptions = {},
): Promise<DmcaCase> {
  const row = await getCase(context.database.read, input.id)
  return mayReadAll(row, caller, options)
    ? toFullCase(context.database.read, row)
    : toPublicCase(context.database.read, row)
}

/** GET /dmca, for administrators: newest first. */
export async function listCases(
  context: GovernanceContext,
  input: { status?: DmcaStatus; page: number; limit: number },
) {
  const { status, page, limit } = input
  const matching = context.database.read
    .selectFrom('dmca_cases')
    .$if(status !== undefined, (select) => select.where('status', '=', status!))
  const { count } = await matching.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const rows = await matching.selectAll().orderBy('id', 'desc').limit(limit).offset(toOffset(page, limit)).execute()
  return { cases: await toFullCases(context.database.read, rows), ...toPage(count, page, limit) }
}

function mayReadAll(row: DmcaCaseRow, caller: Caller, { caseToken }: CallOptions): boolean {
  if (caseToken !== undefined) {
    if (isTokenOf(row.token_hash, caseToken)) return true
    throw new RegistryError('forbidden', 'The token in X-Case-Token does not belong to this case.')
  }
  // Requires the same scope as the list of cases.
  return caller.kind === 'user' && caller.role === 'admin' && caller.scopes.includes('manage')
}

import type { WriteTransaction } from '@skillstead/core/internal'

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** That of the operator, who owns nothing. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** Whether this may be the id of something on this node. */
export function isId(text: string): boolean {
  return idPattern.test(text) && text !== nobody
}

/** Whether a skill that comes in may have an id. */
export async function isFreeId(trx: WriteTransaction, id: string): Promise<boolean> {
  if (!isId(id)) return false
  const taken = await trx.selectFrom('skills').select('id').where('id', '=', id).executeTakeFirst()
  return taken === undefined
}

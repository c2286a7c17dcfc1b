import { RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { Tables, WebhookRow } from '../storage/tables.ts'

/** A webhook of the caller. Throws `not_found`, even to administrators for another user's webhook. */
export async function getOwnWebhook(
  db: Pick<Kysely<Tables>, 'selectFrom'>,
  id: string,
  caller: Caller,
): Promise<WebhookRow> {
  const { userId } = requireAccount(caller)
  const row = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (!row) throw new RegistryError('not_found', 'You have no webhook with this id.')
  return row
}

import { sql } from 'kysely'
import { callerId, type Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { toOffset, toPage } from '../paging.ts'
import { showPack } from './pack-form.ts'

/** GET /packs: those the caller may see whose name, slug or description holds every word of `q`, newest first. */
export async function listPacks(context: Context, input: { q: string; page: number; limit: number }, caller: Caller) {
  const words = input.q.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 16)
  const matching = context.database.read
    .selectFrom('packs')
    .where('state', '=', 'live')
    .where((eb) => {
      const open = eb('visibility', 'in', caller.kind === 'user' ? ['public', 'internal'] : ['public'])
      const id = callerId(caller)
      return id === null ? open : eb.or([open, eb('curator_id', '=', id)])
    })
    .where((eb) =>
      // `replace` finds a word without the wildcards and case rules of LIKE, which differ between the databases.
      eb.and(
        words.map(
          (word) =>
            sql<boolean>`replace(lower(name || ' ' || slug || ' ' || description), ${word}, '') <> lower(name || ' ' || slug || ' ' || description)`,
        ),
      ),
    )
  const { count } = await matching.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const rows = await matching
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('slug')
    .limit(input.limit)
    .offset(toOffset(input.page, input.limit))
    .execute()
  const packs = []
  for (const row of rows) packs.push(await showPack(context, row, caller))
  return { packs, ...toPage(count, input.page, input.limit) }
}

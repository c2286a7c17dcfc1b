import { callerId, type Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import { showPack } from './pack-form.ts'
import { toShownSlug } from './pack-slugs.ts'

/**
 * GET /packs: packs that the caller may see whose name, slug or description contains every word of `q`, newest first.
 */
export async function listPacks(
  context: CatalogueContext,
  input: { q: string; curator?: string; page: number; limit: number },
  caller: Caller,
) {
  const { curator } = input
  const words = fold(input.q).split(/\s+/).filter(Boolean).slice(0, 16)
  const visible = context.database.read
    .selectFrom('packs')
    .where('state', '=', 'live')
    .$if(curator !== undefined, (select) => select.where('curator', '=', curator!))
    .where((eb) => {
      const open = eb('visibility', 'in', caller.kind === 'user' ? ['public', 'internal'] : ['public'])
      const id = callerId(caller)
      return id === null ? open : eb.or([open, eb('curator_id', '=', id)])
    })
    .orderBy('created_at', 'desc')
    .orderBy('slug')
  // The databases fold case differently, SQLite only for ASCII, so words are compared here.
  const briefs = await visible.select(['id', 'name', 'slug', 'description']).execute()
  const matching = briefs.filter(({ name, slug, description }) => {
    const text = fold(`${name} ${toShownSlug(slug)} ${description}`)
    return words.every((word) => text.includes(word))
  })
  const offset = toOffset(input.page, input.limit)
  const ids = matching.slice(offset, offset + input.limit).map(({ id }) => id)
  const rows = ids.length > 0 ? await visible.selectAll().where('id', 'in', ids).execute() : []
  const packs = []
  for (const row of rows) packs.push(await showPack(context, row, caller))
  return { packs, ...toPage(matching.length, input.page, input.limit) }
}

/** Normalises case and accents. */
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

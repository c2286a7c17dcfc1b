import { RegistryError } from '@skillstead/protocol'
import { guest, type Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { withShare } from './share-links.ts'
import { toRegistryError } from '../storage/storage-error.ts'

/** The skills that an index covers. */
export type DiscoveryScope =
  | { readonly of: 'owner'; readonly owner: string }
  | { readonly of: 'skill'; readonly owner: string; readonly name: string; readonly version?: string }
  | { readonly of: 'pack'; readonly slug: string }
  /** A private skill, for the holder of its share link. */
  | { readonly of: 'share'; readonly token: string }

/** The skill that a link shares, and the caller who reads it. Throws the same `not_found` for every invalid link. */
export async function openShare(
  context: CatalogueContext,
  token: string,
): Promise<{ fullName: string; holder: Caller }> {
  const holder = await withShare(context, guest, token)
  const skill = await context.database.read
    .selectFrom('skills')
    .select('full_name')
    .where('id', '=', holder.sharedSkillId!)
    .where('state', '!=', 'withdrawn')
    .executeTakeFirst()
  if (!skill) throw new RegistryError('not_found', 'This link does not exist or has expired.')
  return { fullName: skill.full_name, holder }
}

/** Runs work that a client waits for: counts it as a call and reports unavailable storage as such. */
export async function answerFor<T>(context: CatalogueContext, work: () => Promise<T>): Promise<T> {
  context.traffic.calls += 1
  try {
    return await work()
  } catch (error) {
    throw toRegistryError(error)
  }
}

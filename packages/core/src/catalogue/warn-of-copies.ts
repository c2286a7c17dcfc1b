import type { Warning } from '@skillstead/protocol'
import type { UserCaller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { findCandidates, findComparedSkill, type ComparedSkill } from './copy-candidates.ts'
import { compareCandidates, type Match } from './compare-candidates.ts'
import { findEarlier } from './first-published.ts'
import { isKin, readLineage } from './lineage.ts'
import { copySimilarity } from './similarity.ts'
import { readWords, type Sketch } from './sketch.ts'

/** Reading and comparing one candidate costs as much as finding all of them. */
const comparedMax = 2
/** Candidates with lower estimates are not read; estimates are imprecise. */
const estimateMin = 0.25
/** The maximum number of the owner's own and source skills that are compared. */
const ownMax = 500

/** The skill about to be published. */
export interface Publishing {
  readonly ownerId: string
  readonly fullName: string
  readonly skillMd: string
  readonly sketch: Sketch
}

/**
 * Warns if most of a text is in another user's public skill that published it earlier and is not a fork source. Names
 * the most similar one, and nothing that the publisher may not see.
 */
export async function warnOfCopies(
  context: CatalogueContext,
  publishing: Publishing,
  user: UserCaller,
): Promise<Warning[]> {
  const { ownerId, sketch, skillMd } = publishing
  const keep = ({ visibility, owner_id }: ComparedSkill) =>
    visibility === 'public' && owner_id !== ownerId && owner_id !== user.userId
  const query = { sketch, caller: user, keep, estimateMin, max: comparedMax }
  const candidates = await findCandidates(context, query)
  if (candidates.length === 0) return []
  const matches = await compareCandidates(context, readWords(skillMd), candidates)
  const copies = matches.filter(({ similarity }) => similarity >= copySimilarity)
  const original = await findOriginal(context, publishing, copies)
  return original ? [toWarning(original)] : []
}

async function findOriginal(
  context: CatalogueContext,
  { sketch, fullName, ownerId }: Publishing,
  copies: readonly Match[],
): Promise<Match | undefined> {
  if (copies.length === 0) return undefined
  const own = await findComparedSkill(context, fullName)
  const others = copies.map(({ skill }) => skill)
  // A new skill is not a fork.
  const lineage = own ? await readLineage(context.database.read, [own, ...others]) : new Map()
  const ancestors = own ? [...lineage.get(own.id)!] : []
  const earlier = await findEarlier(context, sketch, await readOwnNums(context, ownerId, ancestors), others)
  return copies.find(({ skill }) => earlier.has(skill.num) && !(own && isKin(lineage, own.id, skill.id)))
}

/** Text that the owner, or a source of this skill, published earlier is not another user's. */
async function readOwnNums(
  context: CatalogueContext,
  ownerId: string,
  ancestorIds: readonly string[],
): Promise<number[]> {
  const rows = await context.database.read
    .selectFrom('skills')
    .select('num')
    .where((eb) =>
      ancestorIds.length === 0
        ? eb('owner_id', '=', ownerId)
        : eb.or([eb('owner_id', '=', ownerId), eb('id', 'in', ancestorIds)]),
    )
    .orderBy('num')
    .limit(ownMax)
    .execute()
  return rows.map(({ num }) => num)
}

function toWarning({ skill, version, similarity, kind }: Match): Warning {
  const share = `${Math.round(similarity * 100)} % of the shorter of the two`
  const opening =
    kind === 'exact' ? 'The text is word for word the same as that of' : `The text has ${share} in common with`
  const advice = 'If you copied it, name the source and comply with its license; a fork does both.'
  return {
    code: 'resembles',
    message: `${opening} ${skill.full_name}@${version}, which was published first. ${advice}`,
  }
}

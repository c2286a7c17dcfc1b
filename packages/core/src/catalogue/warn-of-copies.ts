import type { Warning } from '@skillstead/protocol'
import type { UserCaller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { findCandidates, findComparedSkill, type ComparedSkill } from './copy-candidates.ts'
import { compareCandidates, type Match } from './compare-candidates.ts'
import { findEarlier } from './first-published.ts'
import { isKin, readLineage } from './lineage.ts'
import { copySimilarity } from './similarity.ts'
import { readWords, type Sketch } from './sketch.ts'

/** Reading and comparing one costs as much as finding them all. */
const comparedMax = 2
/** Sketches err by some; what is far below is not read. */
const estimateMin = 0.25
/** Of the owner's skills and those that the skill comes from. */
const ownMax = 500

/** What is about to be published, and where. */
export interface Publishing {
  readonly ownerId: string
  readonly fullName: string
  readonly skillMd: string
  readonly sketch: Sketch
}

/**
 * A warning where most of a text stands in somebody else's public skill that said it first and that it is no fork of. It
 * names one, the most similar, and nothing that the publisher may not see.
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
  // A new skill is nobody's fork.
  const lineage = own ? await readLineage(context.database.read, [own, ...others]) : new Map()
  const ancestors = own ? [...lineage.get(own.id)!] : []
  const earlier = await findEarlier(context, sketch, await readOwnNums(context, ownerId, ancestors), others)
  return copies.find(({ skill }) => earlier.has(skill.num) && !(own && isKin(lineage, own.id, skill.id)))
}

/** What the owner, or a skill that this one comes from, said before is none of somebody else's. */
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
  const said = kind === 'exact' ? 'The text is word for word that of' : `The text has ${share} in common with`
  const advice = 'If you took it from there, say so and keep to its license; a fork does both.'
  return { code: 'resembles', message: `${said} ${skill.full_name}@${version}, which had it first. ${advice}` }
}

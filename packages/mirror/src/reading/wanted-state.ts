import { type Database, isPublished, type WantedSkill } from '@skillstead/core/internal'
import { isSkillName, isUsername, reservedOwners } from '@skillstead/protocol'
import { isPrivateName, type MirrorParts } from '../run.ts'

/**
 * The state of a requested skill: `here` if it is stored, `missing` if it may be requested (with `from`, only from that
 * upstream), `own` if its name must not be sent to any upstream.
 */
export type WantedState =
  | { readonly kind: 'here' }
  | { readonly kind: 'missing'; readonly from?: string }
  | { readonly kind: 'own' }

const own: WantedState = { kind: 'own' }

/**
 * Decides whether a name may be sent to upstreams. Short names are never sent, because the first upstream that responds
 * would decide which skill they mean. Private names, names of this node's users, and names that this node knows are not
 * sent, either.
 */
export async function readWantedState(parts: MirrorParts, { name, version }: WantedSkill): Promise<WantedState> {
  const owner = parseOwner(name)
  if (owner === undefined || isPrivateName(parts, name)) return own
  const { read } = parts.context.database
  const skill = await read
    .selectFrom('skills')
    .select(['id', 'origin_kind', 'origin_upstream', 'state', 'visibility', 'stub'])
    .where('full_name', '=', name)
    .executeTakeFirst()
  if (!skill) return (await isKnownName(read, name, owner)) ? own : { kind: 'missing' }
  if (!isPublished(skill)) return own
  if (version === undefined || (await hasVersion(read, skill.id, version))) return { kind: 'here' }
  return skill.origin_kind === 'mirror' ? { kind: 'missing', from: skill.origin_upstream ?? '' } : own
}

/** The owner in a valid full name; undefined for any other text. */
function parseOwner(fullName: string): string | undefined {
  const [owner = '', name = '', ...rest] = fullName.split('/')
  const isName = rest.length === 0 && isUsername(owner) && !reservedOwners.has(owner) && isSkillName(name)
  return isName ? owner : undefined
}

type Read = Database['read']

async function isKnownName(read: Read, fullName: string, owner: string): Promise<boolean> {
  const user = await read.selectFrom('users').select('claimed').where('username', '=', owner).executeTakeFirst()
  if (user?.claimed) return true
  const alias = await read.selectFrom('aliases').select('skill_id').where('full_name', '=', fullName).executeTakeFirst()
  return alias !== undefined
}

async function hasVersion(read: Read, skillId: string, version: string): Promise<boolean> {
  const row = await read
    .selectFrom('versions')
    .select('id')
    .where('skill_id', '=', skillId)
    .where('version', '=', version)
    .executeTakeFirst()
  return row !== undefined
}

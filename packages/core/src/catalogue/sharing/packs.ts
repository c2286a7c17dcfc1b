import {
  type FieldError,
  isVersion,
  limits,
  RegistryError,
  type Right,
  toMarketplaceName,
  type Warning,
} from '@skillstead/protocol'
import { toSlug } from '@skillstead/skill-format'
import type { Kysely } from 'kysely'
import type { StorageContext } from '../../storage/storage-context.ts'
import { type Caller, requireAccount, type UserCaller } from '../../kernel/caller.ts'
import { invalidField, invalidFields } from '../../kernel/field-errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Input, Operation } from '../../kernel/operation-input.ts'
import { appendChange, type LogDraft } from '../../log/append-change.ts'
import { recordAudit } from '../../log/audit.ts'
import { jsonBytes } from '../../log/entry-text.ts'
import type { PackRow, Tables } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { findReadableSkill } from '../skills/find-skill.ts'
import { checkTexts, toPackTexts } from '../inspecting/metadata-scan.ts'
import { findOwnOrganisation } from '../../accounts/organisations.ts'
import { requireRight } from '../../visibility/rights.ts'
import { getPack, readShownRows, requireFreeSlug, showPack, toShownSlug, toStoredSlug } from './read-packs.ts'
import { getVersion } from '../skills/read-skill.ts'
import { isShownToAll } from '../../visibility/decisions.ts'

type NewMember = Pick<Member, 'skillId' | 'pinnedVersion' | 'note'>

/**
 * POST /packs: creates a pack of the caller, or of an organisation in which the caller may publish. Throws
 * `name_taken`, and `invalid_request` that names each skill the caller cannot see.
 */
export const createPack: Operation<'createPack', CatalogueContext> = async (context, input, caller) => {
  const user = requireAccount(caller)
  const slug = input.slug ?? toSlug(input.name)
  if (slug === '') throw invalidField('slug', `cannot be made from the name '${input.name}'. Specify a slug.`)
  const curator = await getCurator(context.database.read, input.owner, user)
  const members = await resolvePackMembers(context, input.skills, caller)
  const found = await checkTexts(context, toPackTexts({ ...input, skills: members }))
  const now = context.clock.now()
  const pack: PackRow = {
    id: newId(),
    slug: toStoredSlug(slug, { curator_id: curator.id, visibility: input.visibility }),
    name: input.name,
    description: input.description,
    curator_id: curator.id,
    curator: curator.username,
    visibility: input.visibility,
    state: 'live',
    origin_upstream: null,
    created_at: now,
    updated_at: now,
  }
  await context.database.writer.write(async (trx) => {
    await getCurator(trx, input.owner, user)
    await requireFreeSlug(trx, slug, pack, user)
    await trx.insertInto('packs').values(pack).execute()
    await replacePackMembers(trx, pack.id, members)
    await recordPackChange(trx, { caller, action: 'pack.create', before: undefined, pack })
  })
  const warnings = [...(found.warnings ?? []), ...warnOfReservedName(slug)]
  return { ...(await showPack(context, pack, caller)), ...(warnings.length > 0 && { warnings }) }
}

/** The owner of a new pack. Determined again in the transaction, since the caller may have left the organisation. */
async function getCurator(db: Kysely<Tables>, owner: string | undefined, user: UserCaller) {
  if (owner === undefined || owner === user.username) return { id: user.userId, username: user.username }
  const organisation = await findOwnOrganisation(db, owner, user, 'publish')
  if (organisation) return organisation
  throw new RegistryError(
    'forbidden',
    `You may not create packs of ${owner}. Create it in your name, or ask an owner or admin of ${owner} for the role publisher.`,
  )
}

function warnOfReservedName(slug: string): Warning[] {
  const marketplace = toMarketplaceName(slug)
  if (marketplace === slug) return []
  const message = `Claude Code reserves the marketplace name '${slug}'. The marketplace of this pack has the name '${marketplace}'.`
  return [{ code: 'reserved_marketplace', message }]
}

/**
 * PATCH /packs/<slug>: changes a pack. Requires the right `publish` in it, or `manage` to change its visibility.
 * `skills` takes the place of the skills that the caller sees. Throws `name_taken` if a private pack is published under
 * a taken slug.
 */
export const updatePack: Operation<'updatePack', CatalogueContext> = async (context, input, caller) => {
  const user = requireAccount(caller)
  const { id } = await getPack(context, input.slug, caller)
  await getLivePack(context.database.read, id, caller, 'publish')
  const change = await readMemberChange(context, id, input, caller)
  for (;;) {
    const scanned = changeMembers(await readPackMembers(context.database.read, id), change)
    const found = await checkTexts(context, toPackTexts({ ...input, skills: scanned }))
    const pack = await context.database.writer.write(async (trx) => {
      const before = await getLivePack(trx, id, caller, 'publish')
      const members = changeMembers(await readPackMembers(trx, id), change)
      // The members changed since the scan: scan all notes again.
      if (members && toNotes(members) !== toNotes(scanned)) return undefined
      const visibility = input.visibility ?? before.visibility
      if (visibility !== before.visibility) await requirePackRight(trx, before, caller, 'manage')
      const isShown = before.visibility === 'private' && visibility !== 'private'
      const slug = isShown ? toShownSlug(before.slug) : before.slug
      if (isShown) await requireFreeSlug(trx, slug, before, user)
      const changed = {
        slug,
        name: input.name ?? before.name,
        description: input.description ?? before.description,
        visibility,
        updated_at: context.clock.now(),
      }
      await trx.updateTable('packs').set(changed).where('id', '=', id).execute()
      if (members) await replacePackMembers(trx, id, members)
      const after: PackRow = { ...before, ...changed }
      await recordPackChange(trx, { caller, action: 'pack.update', before, pack: after })
      return after
    })
    if (pack) return { ...(await showPack(context, pack, caller)), ...found }
  }
}

/** A change of a pack's members: a list that replaces the members the caller sees, or members to add and remove. */
type MemberChange =
  | { readonly listed: readonly Member[]; readonly seen: ReadonlySet<string> }
  | { readonly added: readonly (readonly [Member, MemberFields])[]; readonly removed: readonly string[] }

/** Reads the change of members from a request; undefined if the request changes no members. */
async function readMemberChange(
  context: StorageContext,
  packId: string,
  { skills, add = [], remove = [] }: Input<'updatePack'>,
  caller: Caller,
): Promise<MemberChange | undefined> {
  if (skills && add.length + remove.length > 0)
    throw invalidField('skills', 'is the whole list. Leave it out to add and remove single skills.')
  if (skills) {
    const listed = await resolvePackMembers(context, skills, caller)
    const seen = await readShownRows(context, packId, caller)
    return { listed, seen: new Set(seen.map((row) => row.id)) }
  }
  if (add.length + remove.length === 0) return undefined
  const members = await resolvePackMembers(context, add, caller, 'add')
  return { added: members.map((member, i) => [member, toMemberFields(add[i]!)]), removed: remove }
}

/** Applies a change of members. Members that the caller does not see, or that were added meanwhile, stay. */
function changeMembers(current: readonly Member[], change: MemberChange | undefined): Member[] | undefined {
  if (!change) return undefined
  const { field, members } = 'listed' in change ? replaceSeen(current, change) : changeSingle(current, change)
  const max = limits.packSkillsMax
  if (members.length > max)
    throw invalidField(
      field,
      `would give the pack ${members.length} skills, including those that you cannot see; at most ${max} are allowed`,
    )
  return members
}

function replaceSeen(current: readonly Member[], { listed, seen }: Extract<MemberChange, { seen: unknown }>) {
  const named = new Set(listed.map(({ skillId }) => skillId))
  const unseen = current.filter(({ skillId }) => !seen.has(skillId) && !named.has(skillId))
  return { field: 'skills', members: [...listed, ...unseen] }
}

/** Adds and removes members. A present member keeps its position, and the fields that its input omits. */
function changeSingle(current: readonly Member[], { added, removed }: Extract<MemberChange, { added: unknown }>) {
  const kept = current.filter(({ fullName }) => !removed.includes(fullName))
  const members = new Map(kept.map((member) => [member.skillId, member]))
  for (const [member, { version, note }] of added) {
    const before = members.get(member.skillId) ?? member
    const pinnedVersion = version ?? before.pinnedVersion
    members.set(member.skillId, { ...member, pinnedVersion, note: note ?? before.note })
  }
  return { field: 'add', members: [...members.values()] }
}

const toNotes = (members: readonly Member[] | undefined) => JSON.stringify(members?.map(({ note }) => note))

/** DELETE /packs/<slug>: deletes a pack. Requires the right `manage` in it. The slug stays taken. */
export const deletePack: Operation<'deletePack', StorageContext> = async (context, input, caller) => {
  const { id } = await getPack(context, input.slug, caller)
  await context.database.writer.write(async (trx) => {
    const before = await getLivePack(trx, id, caller, 'manage')
    const changed = { state: 'withdrawn', updated_at: context.clock.now() } as const
    await trx.updateTable('packs').set(changed).where('id', '=', id).execute()
    await recordPackChange(trx, { caller, action: 'pack.delete', before, pack: { ...before, ...changed } })
  })
}

/**
 * Reads the pack again within the transaction, because the pack may have been changed or deleted since the first read.
 * Throws `not_found` for a deleted pack, and `forbidden` for callers without `right`.
 */
async function getLivePack(trx: Kysely<Tables>, id: string, caller: Caller, right: Right): Promise<PackRow> {
  const pack = await trx.selectFrom('packs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  if (pack.state !== 'live') throw new RegistryError('not_found', `The pack '${toShownSlug(pack.slug)}' was deleted.`)
  await requirePackRight(trx, pack, caller, right)
  return pack
}

/** Throws `forbidden` without the right, which is judged as for a skill without collaborators and teams. */
function requirePackRight(trx: Kysely<Tables>, pack: PackRow, caller: Caller, right: Right): Promise<void> {
  const { id, curator_id: owner_id, curator, slug } = pack
  return requireRight(trx, { id, owner_id, full_name: `${curator}/${toShownSlug(slug)}` }, caller, right)
}

export async function replacePackMembers(trx: WriteTransaction, packId: string, members: readonly NewMember[]) {
  await trx.deleteFrom('pack_skills').where('pack_id', '=', packId).execute()
  await addPackMembers(trx, packId, members, 0)
}

/** Adds members to a pack, starting at a position. */
export async function addPackMembers(
  trx: WriteTransaction,
  packId: string,
  members: readonly NewMember[],
  from: number,
): Promise<void> {
  if (members.length === 0) return
  const rows = members.map(({ skillId, pinnedVersion, note }, i) => ({
    pack_id: packId,
    position: from + i,
    skill_id: skillId,
    pinned_version: pinnedVersion,
    note,
  }))
  await trx.insertInto('pack_skills').values(rows).execute()
}

async function readPackMembers(trx: Kysely<Tables>, packId: string): Promise<Member[]> {
  const rows = await trx
    .selectFrom('pack_skills')
    .innerJoin('skills', 'skills.id', 'pack_skills.skill_id')
    .select(['skill_id', 'full_name', 'skills.visibility', 'skills.state', 'pinned_version', 'note'])
    .where('pack_id', '=', packId)
    .orderBy('position')
    .execute()
  return rows.map((row) => ({
    skillId: row.skill_id,
    fullName: row.full_name,
    isPublic: isShownToAll(row),
    pinnedVersion: row.pinned_version,
    note: row.note,
  }))
}

async function recordPackChange(
  trx: WriteTransaction,
  what: { caller: Caller; action: string; before: PackRow | undefined; pack: PackRow },
): Promise<void> {
  const { caller, action, before, pack } = what
  // Members are read again, so that the log names no skill that has become private in the meantime.
  const members = await readPackMembers(trx, pack.id)
  const at = pack.updated_at
  await appendChange(trx, { kind: 'pack', subject: pack.id, at, entries: toPackEntries(before, pack, members) })
  await recordAudit(trx, { caller, action, subject: toShownSlug(pack.slug), at })
}

/** A member as named in a request. */
type MemberInput = string | MemberFields
type MemberFields = { name: string; version?: string; note?: string }

const toMemberFields = (input: MemberInput): MemberFields => (typeof input === 'string' ? { name: input } : input)

/** A member with its skill. */
interface Member {
  readonly skillId: string
  readonly fullName: string
  readonly isPublic: boolean
  readonly pinnedVersion: string | null
  readonly note: string
}

/** Finds the skills of members. Throws `invalid_request` that names each member that is listed twice or not visible. */
async function resolvePackMembers(
  context: StorageContext,
  inputs: readonly MemberInput[],
  caller: Caller,
  field = 'skills',
): Promise<Member[]> {
  const members: Member[] = []
  const errors: FieldError[] = []
  for (const [i, input] of inputs.entries()) {
    const member = await findPackMember(context, toMemberFields(input), caller)
    if (typeof member === 'string') errors.push({ path: `${field}.${i}`, message: member })
    else if (members.some(({ skillId }) => skillId === member.skillId))
      errors.push({ path: `${field}.${i}`, message: `lists ${member.fullName} a second time.` })
    else members.push(member)
  }
  if (errors.length > 0) throw invalidFields('invalid_request', errors)
  return members
}

async function findPackMember(context: StorageContext, wanted: MemberFields, caller: Caller): Promise<Member | string> {
  const skill = await findReadableSkill(context, wanted.name, caller)
  if (!skill) return `names '${wanted.name}', a skill that does not exist or that you have no access to.`
  if (wanted.version !== undefined) {
    if (!isVersion(wanted.version))
      return `has the invalid version '${wanted.version}'; write three numbers, such as 1.4.0.`
    const version = await getVersion(context, skill, wanted.version).catch(() => undefined)
    if (!version) return `pins ${skill.full_name}@${wanted.version}, which does not exist.`
  }
  return {
    skillId: skill.id,
    fullName: skill.full_name,
    isPublic: isShownToAll(skill),
    pinnedVersion: wanted.version ?? null,
    note: wanted.note ?? '',
  }
}

/** Maximum size of a pack's skill list in one log entry. A longer list takes several entries. */
const packPartBytesMax = 32_768

/** The public log entries for a change of a pack: its current public state, or its withdrawal. */
function toPackEntries(before: PackRow | undefined, pack: PackRow, members: readonly Member[]): LogDraft[] {
  const was = before !== undefined && isShownToAll(before)
  if (!isShownToAll(pack)) return was ? [toPackEntry(pack, { withdrawn: true })] : []
  const skills = members
    .filter((member) => member.isPublic)
    .map(({ fullName, pinnedVersion, note }) => ({ fullName, pinnedVersion, note }))
  const parts = toPackParts(skills)
  const { name, description } = pack
  // The entry of the first part starts a new list of skills; the entries of the other parts append to this list.
  return parts.map((some, i) =>
    toPackEntry(pack, {
      withdrawn: false,
      name,
      description,
      skills: some,
      ...(parts.length > 1 && { part: { number: i + 1, of: parts.length } }),
    }),
  )
}

function toPackParts<Item>(items: readonly Item[]): Item[][] {
  const parts: Item[][] = [[]]
  let bytes = 0
  for (const item of items) {
    bytes += jsonBytes(item) + 1
    if (bytes > packPartBytesMax && parts.at(-1)!.length > 0) {
      parts.push([])
      bytes = jsonBytes(item) + 1
    }
    parts.at(-1)!.push(item)
  }
  return parts
}

function toPackEntry(pack: PackRow, data: Record<string, unknown>): LogDraft {
  const curator = { id: pack.curator_id, username: pack.curator }
  return {
    type: 'pack',
    subject: pack.slug,
    digest: null,
    data: { pack: { id: pack.id, slug: pack.slug }, curator, ...data },
  }
}

import { limits, type Me, RegistryError, toTimestamp } from '@skillstead/protocol'
import { toDigest } from '@skillstead/skill-format/archives'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { getUserByName } from '../accounts/find-user.ts'
import { renameUser, setEmail } from '../accounts/users.ts'
import { readVerifications } from '../accounts/verified-author.ts'
import { searchSkillsAs } from '../catalogue/finding/skill-search.ts'
import { toAvatarUrl } from '../kernel/avatar-url.ts'
import { type Caller, guest, requireAccount, systemCaller, type UserCaller } from '../kernel/caller.ts'
import { invalidField } from '../kernel/field-errors.ts'
import type { Input, Operation } from '../kernel/operation-input.ts'
import { countRows } from '../storage/count-rows.ts'
import { addRow, hasRow, removeRows } from '../storage/table-rows.ts'
import type { UserRow } from '../storage/tables.ts'
import { countWebhooks } from '../webhooks/webhooks.ts'
import { sql } from 'kysely'
import type { Database } from '../storage/database.ts'
import { isListedSkill, isPackOpenTo, listedCondition } from '../visibility/conditions.ts'
import { isItemSeenBy } from '../visibility/quarantine-conditions.ts'
import { selectOrganisationsWith } from '../visibility/rights.ts'

/** GET /users/me: the account of the caller, with counts. */
export async function showMe(context: StorageContext, caller: Caller): Promise<Me> {
  const { username } = requireAccount(caller)
  const user = await getUserByName(context, username)
  const counts = await countOfUser(context, user, { all: true })
  const webhooks = await countWebhooks(context.database.read, user.id)
  const proved = await readVerifiedFields(context, user)
  return {
    ...toPublicFields(user),
    plan: user.plan,
    role: user.role,
    email: user.email,
    ...proved,
    counts: { ...counts, webhooks },
  }
}

/**
 * GET /session: the current user with the number of notices, or null for a guest. Never fails, so that a page can call
 * it before sign-in.
 */
export async function getSession(context: StorageContext, _input: object, caller: Caller) {
  if (caller.kind !== 'user' || caller === systemCaller) return { user: null, notices: 0 }
  return { user: await showMe(context, caller), notices: await countNotices(context.database, caller) }
}

/**
 * PATCH /users/me: changes the display name, the picture and the e-mail address; null removes the picture or the
 * address.
 */
export const updateMe: Operation<'updateMe', StorageContext> = async (context, input, caller) => {
  const { userId } = requireAccount(caller)
  const picture = input.avatar ? decodePicture(input.avatar) : undefined
  await context.database.writer.write(async (trx) => {
    if (input.displayName !== undefined) {
      await renameUser(trx, userId, input.displayName)
    }
    if (input.email !== undefined) await setEmail(trx, userId, input.email)
    if (input.avatar === undefined) return
    await trx.deleteFrom('avatars').where('user_id', '=', userId).execute()
    if (picture)
      await trx
        .insertInto('avatars')
        .values({ user_id: userId, ...picture })
        .execute()
  })
  return showMe(context, caller)
}

/** GET /users/<username>: the public profile of a user, and a page of the user's public skills. */
export const showUser: Operation<'getUser', CatalogueContext> = async (context, input, caller) => {
  const { username, page, limit } = input
  const user = await getUserByName(context, username)
  const counts = await countOfUser(context, user, { all: false })
  const published = {
    q: '',
    owner: username,
    sort: 'recent',
    includeStubs: false,
    explain: false,
    facets: false,
    page,
    limit,
  } as const
  const { filters: _filters, ...skills } = await searchSkillsAs(context, published, { viewer: guest, reader: caller })
  const claimed = user.claimed === 1
  return {
    ...toPublicFields(user),
    kind: user.kind,
    claimed,
    ...(await readVerifiedFields(context, user)),
    counts,
    ...skills,
  }
}

/** GET /users/<username>/avatar: the picture of a user, or a picture generated from the username. */
export const readAvatar: Operation<'getAvatar', StorageContext> = async (context, input) => {
  const user = await getUserByName(context, input.username)
  const picture = await context.database.read
    .selectFrom('avatars')
    .selectAll()
    .where('user_id', '=', user.id)
    .executeTakeFirst()
  const contentType = picture?.content_type ?? 'image/svg+xml'
  const body = picture?.bytes ?? Buffer.from(drawAvatar(user.username))
  return { contentType, body, etag: `"${toDigest(body)}"` }
}

/** PUT and DELETE /users/<username>/follow: follows a user, or stops following. Idempotent. */
export async function setFollowing(
  context: CatalogueContext,
  input: Input<'followUser'>,
  following: boolean,
  caller: Caller,
) {
  const { userId, username } = requireAccount(caller)
  const followed = await getUserByName(context, input.username)
  if (followed.id === userId) throw new RegistryError('conflict', 'You cannot follow yourself.')
  return context.database.writer.write(async (trx) => {
    const pair = { follower_id: userId, followed_id: followed.id }
    const isNew = following && (await addRow(trx, 'follows', { ...pair, created_at: context.clock.now() }))
    if (!following) await removeRows(trx, 'follows', pair)
    const followers = await countRows(trx.selectFrom('follows').where('followed_id', '=', followed.id))
    if (isNew) {
      const data = () => ({ follower: { id: userId, username }, followerCount: followers })
      await context.events.emit(trx, { event: 'user.followed', ownerId: followed.id, data })
    }
    return { following, followers }
  })
}

/** GET /users/<username>/follow: whether the caller follows the user. */
export const showFollowing: Operation<'getFollow', StorageContext> = async (context, input, caller) => {
  const { userId } = requireAccount(caller)
  const followed = await getUserByName(context, input.username)
  const { read } = context.database
  const followers = await countRows(read.selectFrom('follows').where('followed_id', '=', followed.id))
  const following = await hasRow(read, 'follows', { follower_id: userId, followed_id: followed.id })
  return { following, followers }
}

function toPublicFields(user: UserRow) {
  return {
    id: user.id,
    username: user.username,
    displayName: user.display_name,
    avatarUrl: toAvatarUrl(user.username),
    createdAt: toTimestamp(user.created_at),
  }
}

async function readVerifiedFields({ database }: StorageContext, { id }: UserRow) {
  const verifications = await readVerifications(database.read, id)
  return { verified: [...new Set(verifications.map(({ method }) => method))], verifications }
}

async function countOfUser(context: StorageContext, user: UserRow, { all }: { all: boolean }) {
  const db = context.database.read
  const skills = db.selectFrom('skills').where('owner_id', '=', user.id)
  const packs = db.selectFrom('packs').where('curator_id', '=', user.id).where('state', '=', 'live')
  const follows = db.selectFrom('follows')
  return {
    skills: await countRows(skills.where(all ? isListedSkill : listedCondition)),
    packs: await countRows(all ? packs : packs.where(isPackOpenTo(guest))),
    followers: await countRows(follows.where('followed_id', '=', user.id)),
    following: await countRows(follows.where('follower_id', '=', user.id)),
  }
}

function decodePicture({ contentType, content }: NonNullable<Input<'updateMe'>['avatar']>): {
  content_type: string
  bytes: Uint8Array
} {
  const bytes = Buffer.from(content, 'base64')
  if (bytes.length > limits.avatarBytesMax || !hasImageSignature(contentType, bytes)) {
    throw invalidField('avatar', `must be a ${contentType} of at most ${limits.avatarBytesMax / 1024} KiB.`)
  }
  return { content_type: contentType, bytes }
}

/** Whether bytes begin as their image type requires, so that nothing else is served as an image. */
function hasImageSignature(contentType: string, bytes: Buffer): boolean {
  if (contentType === 'image/png') return bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n'
  if (contentType === 'image/jpeg') return bytes.subarray(0, 3).toString('hex') === 'ffd8ff'
  return bytes.subarray(0, 4).toString('latin1') === 'RIFF' && bytes.subarray(8, 12).toString('latin1') === 'WEBP'
}

function drawAvatar(username: string): string {
  const hue = [...username].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 360, 7)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="8" fill="hsl(${hue} 45% 45%)"/><text x="32" y="43" font-family="sans-serif" font-size="32" fill="#fff" text-anchor="middle">${username[0]!.toUpperCase()}</text></svg>`
}

/**
 * Counts the items that need an action of the user, in one statement: invitations, offered transfers, quarantined
 * versions, versions to review, moderated skills and failing webhooks. The inbox of the dashboard lists these items.
 */
async function countNotices({ read }: Pick<Database, 'read'>, caller: UserCaller): Promise<number> {
  const { userId } = caller
  const items = read
    .selectFrom('quarantine_items')
    .select((eb) => eb.fn.countAll().as('items'))
    // Counts as for a user who is no administrator: another page of the dashboard lists what only administrators
    // decide.
    .where(isItemSeenBy({ ...caller, role: 'user' }))
  const { rows } = await sql<{ notices: number }>`select
    (select count(*) from invitations join skills on skills.id = invitations.skill_id
      where invitations.user_id = ${userId} and skills.state = 'live')
    + (select count(*) from member_invitations where user_id = ${userId})
    + (select count(*) from transfers where new_owner_id = ${userId} or new_owner_id in (${selectOrganisationsWith('manage', userId)}))
    + (${items})
    + (select count(*) from skills join versions on versions.skill_id = skills.id
      join quarantined_versions on quarantined_versions.version_id = versions.id
      where (skills.owner_id = ${userId} or skills.owner_id in (${selectOrganisationsWith('review', userId)}))
      and skills.state in ('live', 'hidden'))
    + (select count(*) from skills where owner_id = ${userId} and stub = 0
      and (state in ('hidden', 'taken_down') or (state <> 'withdrawn' and moderation = 'flagged')))
    + (select count(*) from webhooks where user_id = ${userId} and active = 1 and 'failed' =
      (select state from outbox where partition = webhooks.id order by outbox.id desc limit 1)) as notices`.execute(
    read,
  )
  return rows[0]!.notices
}

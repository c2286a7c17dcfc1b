import { RegistryError, reservedOwners, toTimestamp, type User } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { toAvatarUrl } from '../kernel/avatar-url.ts'
import type { Caller } from '../kernel/caller.ts'
import { newId } from '../kernel/ids.ts'
import type { Input, Operation } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { type Param, compileQuery } from '../storage/compiled-query.ts'
import { readPage } from '../storage/read-page.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { Tables, UserRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { AccountsContext } from './accounts-context.ts'
import { createKey, insertKey, requireMaker } from './api-keys.ts'
import { getPerson, getUserByName } from './find-user.ts'
import { hasRow } from '../storage/table-rows.ts'

/** GET /users, for administrators: a page of users and organisations, ordered by name. */
export const listUsers: Operation<'listUsers', StorageContext> = async (context, input) => {
  const { claimed } = input
  const typed = input.q.trim().toLowerCase()
  const matching = context.database.read
    .selectFrom('users')
    .$if(typed !== '', (select) => select.where('username', '>=', typed).where('username', '<', `${typed}\u{10FFFF}`))
    .$if(claimed !== undefined, (select) => select.where('claimed', '=', Number(claimed)))
  const { rows, paging } = await readPage(matching, matching.selectAll().orderBy('username'), input)
  return { users: rows.map(toUser), ...paging }
}

/**
 * POST /users: creates a user with a first API key, which expires no later than the administrator's key. If the name is
 * that of an imported author, the user takes over the author's namespace. The first user of a node becomes an
 * administrator on the Enterprise plan by default. Throws `name_taken`.
 */
export const createUser: Operation<'createUser', AccountsContext> = async (context, input, caller) =>
  context.database.writer.write(async (trx) => insertUserWithKey(context, trx, input, caller))

/** POST /setup: creates the first user, as {@link createUser} does. Throws `conflict` if the node has a user. */
export async function createFirstUser(context: AccountsContext, username: string, caller: Caller) {
  return context.database.writer.write(async (trx) => {
    if (!(await isWithoutUsers(trx))) throw toSetUpError()
    // No API key creates the first key, so the first key does not expire.
    const { keyExpiresAt: _, ...created } = await insertUserWithKey(context, trx, { username }, caller)
    return created
  })
}

/** The error of POST /setup once the node has a user. */
export function toSetUpError(): RegistryError {
  return new RegistryError('conflict', 'This node is set up already. Sign in with an API key.')
}

async function insertUserWithKey(
  context: AccountsContext,
  trx: WriteTransaction,
  input: Input<'createUser'>,
  caller: Caller,
) {
  const now = context.clock.now()
  const first = await isWithoutUsers(trx)
  const plan = input.plan ?? (first ? 'enterprise' : context.defaultPlan)
  const role = input.role ?? (first ? 'admin' : 'user')
  const user = await claimName(trx, { username: input.username, plan, role, kind: 'user', now, mayClaim: true })
  const maker = await requireMaker(trx, caller, now)
  const { key, ...secret } = createKey()
  const { expiresAt } = await insertKey(trx, { userId: user.id, name: 'first key', now, maker }, secret)
  await recordAudit(trx, { caller, action: 'user.create', subject: user.username, at: now, data: { plan, role } })
  return { ...toUser(user), key, keyExpiresAt: expiresAt }
}

/** PATCH /users/<username>, for administrators: changes a user. Cannot demote or disable the last administrator. */
export const updateUser: Operation<'updateUser', StorageContext> = async (context, input, caller) => {
  const { username, plan, role, disabled } = input
  const user = role === undefined ? await getUserByName(context, username) : await getPerson(context, username)
  return context.database.writer.write(async (trx) => {
    // Only the given fields are set, so that concurrent changes of different fields do not overwrite each other.
    const changed = await trx
      .updateTable('users')
      .set((eb) => ({
        plan: plan ?? eb.ref('plan'),
        role: role ?? eb.ref('role'),
        disabled: disabled === undefined ? eb.ref('disabled') : Number(disabled),
      }))
      .where('id', '=', user.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await refuseNoAdministrator(trx)
    const data = { plan, role, disabled }
    await recordAudit(trx, { caller, action: 'user.update', subject: username, at: context.clock.now(), data })
    return toUser(changed)
  })
}

/**
 * Returns the user with an imported author's name, or creates a user who cannot sign in. The new user gets the author's
 * id on the upstream, if that id is free here. An author who was renamed on the upstream becomes a new author here.
 */
export async function ensureNamespace(trx: WriteTransaction, username: string, now: number, idElsewhere?: string) {
  const [existing] = await selectByName(trx, { username })
  if (existing) return existing
  const [taken] = idElsewhere === undefined ? [] : await selectById(trx, { id: idElsewhere })
  const id = taken ? undefined : idElsewhere
  return insertUser(trx, { username, plan: 'free', role: 'user', kind: 'user', claimed: 0, now, id })
}

const selectByName = compileQuery((db, param: Param<{ username: string }>) =>
  db.selectFrom('users').selectAll().where('username', '=', param('username')),
)
const selectById = compileQuery((db, param: Param<{ id: string }>) =>
  db.selectFrom('users').select('id').where('id', '=', param('id')),
)

/** The values of a new row of `users` that the caller of {@link claimName} chooses. */
type NewUser = Pick<UserRow, 'username' | 'plan' | 'role' | 'kind'> & { readonly now: number }

/**
 * Creates a user or an organisation. With `mayClaim`, the name may be that of an imported author, whose namespace the
 * new user takes over. Throws `name_taken`.
 */
export async function claimName(
  trx: WriteTransaction,
  { mayClaim, ...user }: NewUser & { readonly mayClaim: boolean },
): Promise<UserRow> {
  requireFreeName(user.username)
  const [existing] = await selectByName(trx, { username: user.username })
  if (!existing) return insertUser(trx, { ...user, claimed: 1 })
  // The name of a deleted organisation stays reserved.
  if (existing.claimed || !mayClaim || existing.kind === 'organisation')
    throw new RegistryError('name_taken', `The name '${user.username}' is already taken. Choose another one.`)
  const change = { plan: user.plan, role: user.role, kind: user.kind, claimed: 1 }
  await trx.updateTable('users').set(change).where('id', '=', existing.id).execute()
  return { ...existing, ...change }
}

async function insertUser(
  trx: WriteTransaction,
  { now, ...user }: NewUser & Pick<UserRow, 'claimed'> & { readonly id?: string | undefined },
): Promise<UserRow> {
  const { username } = user
  const row = { ...user, id: user.id ?? newId(), display_name: username, disabled: 0, created_at: now, email: null }
  await trx.insertInto('users').values(row).execute()
  return row
}

/** Stores the display name of a user. */
export async function renameUser(trx: WriteTransaction, userId: string, displayName: string): Promise<void> {
  await trx.updateTable('users').set({ display_name: displayName }).where('id', '=', userId).execute()
}

/** Stores the e-mail address to which notices for a user are sent; null removes the address. */
export async function setEmail(trx: WriteTransaction, userId: string, email: string | null): Promise<void> {
  await trx.updateTable('users').set({ email }).where('id', '=', userId).execute()
}

function requireFreeName(username: string): void {
  if (!reservedOwners.has(username)) return
  throw new RegistryError('name_taken', `'${username}' is reserved for a page of the node. Choose another username.`)
}

/** Whether the node has no users. Authors of imported skills, who cannot sign in, do not count. */
export async function isWithoutUsers(db: Kysely<Tables>): Promise<boolean> {
  return !(await hasRow(db, 'users', { claimed: 1 }))
}

async function refuseNoAdministrator(trx: WriteTransaction): Promise<void> {
  if (await hasRow(trx, 'users', { role: 'admin', disabled: 0, claimed: 1 })) return
  throw new RegistryError(
    'conflict',
    'This would leave the node without an administrator. Make another user an administrator first.',
  )
}

function toUser(row: UserRow): User {
  return {
    id: row.id,
    username: row.username,
    displayName: row.display_name,
    avatarUrl: toAvatarUrl(row.username),
    createdAt: toTimestamp(row.created_at),
    kind: row.kind,
    plan: row.plan,
    role: row.role,
    disabled: row.disabled === 1,
    claimed: row.claimed === 1,
  }
}

import {
  isUsername,
  limits,
  type MemberRole,
  memberRoles,
  RegistryError,
  reservedOwners,
  toVisibleText,
} from '@skillstead/protocol'
import type { Selectable } from 'kysely'
import { guest } from '../kernel/caller.ts'
import { hourMs, minuteMs } from '../kernel/clock.ts'
import { hashToken } from '../kernel/tokens.ts'
import { recordAudit } from '../log/audit.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { addRow, hasRow, removeRows } from '../storage/table-rows.ts'
import type { SessionRow, Tables, UserRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { AccountsContext } from './accounts-context.ts'
import { removeMember } from './members.ts'
import { findOrganisation } from './organisations.ts'
import { insertSession, sessionIdleMs, sessionLifetimeMs } from './sessions.ts'
import { findTeam, insertTeam } from './teams.ts'
import { claimName, renameUser } from './users.ts'

/** What a group of an identity provider gives its members on this node. */
export interface GroupRule {
  readonly group: string
  /** `administrators`, or a role or a team in an organisation. */
  readonly gives:
    | 'administrators'
    | { readonly organisation: string; readonly role: MemberRole }
    | { readonly organisation: string; readonly team: string }
}

/** An account at an identity provider, as a verified ID token describes it. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
  /** The name at the provider. It may change there; the name on this node stays. */
  readonly name: string
  readonly displayName: string | undefined
  /** Undefined if the provider sent no list of groups; memberships then stay as they are. */
  readonly groups: readonly string[] | undefined
}

/** What {@link signInIdentity} needs for a session of an identity provider, in addition to the account. */
export interface IdentitySession {
  /**
   * The OpenID Connect parameter `state`. Its hash is stored until `stateEndsAt`, so that a response of the provider
   * opens only one session.
   */
  readonly state: string
  readonly stateEndsAt: number
  /** The encrypted refresh token, if the provider gave one. */
  readonly refreshToken: Uint8Array | null
}

/** A session ends if the provider has not confirmed the account for this time. */
const confirmedForMs = hourMs
/** How often the node asks the provider whether the account still exists. */
const refreshEveryMs = 10 * minuteMs
/** Time until the next attempt to refresh a session, after an attempt that may have failed. */
const retryMs = 2 * minuteMs

/**
 * Signs in a user of an identity provider: creates the account at the first sign-in, applies the rules for the user's
 * groups, and opens a session, all in one transaction. A new user never takes over a name that exists on this node, but
 * gets the name with a number. Throws `forbidden` for a disabled user, and for a response of the provider that was used
 * before.
 */
export async function signInIdentity(
  context: AccountsContext,
  identity: Identity,
  rules: readonly GroupRule[],
  session: IdentitySession,
): Promise<{ token: string; expiresAt: number; username: string }> {
  const now = context.clock.now()
  const opened = await context.database.writer.write(async (trx) => {
    if (!(await addRow(trx, 'used_states', { hash: hashToken(session.state), expires_at: session.stateEndsAt })))
      return 'This answer of the identity provider was used before. Sign in again.'
    const { user, row } = await getIdentityUser(context, trx, identity, now)
    if (user.disabled)
      return `The account ${user.username} is disabled on this node. Ask an administrator to enable it.`
    const skipped = await applyIdentity(context, trx, { user, row }, identity, rules)
    const opening = await insertSession(trx, {
      user_id: user.id,
      key_id: null,
      created_at: now,
      issuer: identity.issuer,
      expires_at: now + confirmedForMs,
      refresh_token: session.refreshToken,
      refresh_at: session.refreshToken && now + refreshEveryMs,
    })
    const data = { issuer: identity.issuer, subject: identity.subject, ...(skipped.length > 0 && { skipped }) }
    await recordAudit(trx, { caller: guest, action: 'identity.sign-in', subject: user.username, at: now, data })
    return { ...opening, username: user.username }
  })
  if (typeof opened !== 'string') return opened
  throw new RegistryError('forbidden', opened)
}

/** Records in the audit log that a sign-in with an identity provider was refused. */
export async function refuseIdentity({ database, clock }: StorageContext, issuer: string, reason: string) {
  const [at, data] = [clock.now(), { reason: reason.slice(0, 500) }]
  await database.writer.write((trx) =>
    recordAudit(trx, { caller: guest, action: 'identity.refuse', subject: issuer, at, data }),
  )
}

/** A session that is due for a refresh: the node asks the provider whether the account still exists. */
export type DueSession = Pick<SessionRow, 'id' | 'created_at'> & {
  readonly refresh_token: Uint8Array
  readonly subject: string
}

/**
 * Maximum number of sessions per batch. The node asks the provider about all sessions of a batch concurrently, so that
 * all are confirmed before another node takes them.
 */
const refreshedAtOnce = 20

/** Takes a batch of sessions that are due for a refresh. No other node takes them for two minutes. */
export async function takeDueSessions({ database, clock }: StorageContext, issuer: string): Promise<DueSession[]> {
  const now = clock.now()
  const due = (db: StorageContext['database']['read']) =>
    db
      .selectFrom('sessions')
      .innerJoin('identities', (join) =>
        join.onRef('identities.user_id', '=', 'sessions.user_id').onRef('identities.issuer', '=', 'sessions.issuer'),
      )
      .select(['sessions.id', 'sessions.created_at', 'sessions.refresh_token', 'identities.subject'])
      .where('sessions.refresh_at', '<=', now)
      .where('sessions.issuer', '=', issuer)
      .where('sessions.expires_at', '>', now)
      .where('sessions.used_at', '>', now - sessionIdleMs)
      .orderBy('sessions.refresh_at')
      .limit(refreshedAtOnce)
      .$narrowType<{ refresh_token: Uint8Array }>()
      .execute()
  if ((await due(database.read)).length === 0) return []
  return database.writer.write(async (trx) => {
    const rows = await due(trx)
    const ids = rows.map(({ id }) => id)
    if (ids.length > 0)
      await trx
        .updateTable('sessions')
        .set({ refresh_at: now + retryMs })
        .where('id', 'in', ids)
        .execute()
    return rows
  })
}

/**
 * Prolongs a session whose provider confirmed the account, and applies the rules for the user's groups again.
 * `identity` is undefined if the provider sent no new description of the account.
 */
export async function confirmSession(
  context: AccountsContext,
  { id, created_at }: Pick<DueSession, 'id' | 'created_at'>,
  refreshToken: Uint8Array,
  identity: Identity | undefined,
  rules: readonly GroupRule[],
): Promise<void> {
  const now = context.clock.now()
  await context.database.writer.write(async (trx) => {
    const expiresAt = Math.min(created_at + sessionLifetimeMs, now + confirmedForMs)
    await trx
      .updateTable('sessions')
      .set({ refresh_token: refreshToken, refresh_at: now + refreshEveryMs, expires_at: expiresAt })
      .where('id', '=', id)
      .execute()
    if (identity) await applyIdentity(context, trx, await getIdentityUser(context, trx, identity, now), identity, rules)
  })
}

/** Ends a session because its provider does not confirm the account any more. */
export async function endUnconfirmed({ database, clock }: StorageContext, id: string, reason: string): Promise<void> {
  await database.writer.write(async (trx) => {
    const ended = await trx
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .select('users.username')
      .where('sessions.id', '=', id)
      .executeTakeFirst()
    if (!ended) return
    await removeRows(trx, 'sessions', { id })
    const [at, data] = [clock.now(), { reason: reason.slice(0, 500) }]
    await recordAudit(trx, { caller: guest, action: 'session.end', subject: ended.username, at, data })
  })
}

interface Bound {
  readonly user: UserRow
  readonly row: Selectable<Tables['identities']>
}

/** The user to whom an issuer and a subject are bound; created at the first sign-in. */
async function getIdentityUser(
  context: AccountsContext,
  trx: WriteTransaction,
  { issuer, subject, name }: Identity,
  now: number,
): Promise<Bound> {
  const row = await trx
    .selectFrom('identities')
    .selectAll()
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  if (row) {
    const user = await trx.selectFrom('users').selectAll().where('id', '=', row.user_id).executeTakeFirstOrThrow()
    await trx
      .updateTable('identities')
      .set({ signed_in_at: now })
      .where('issuer', '=', issuer)
      .where('subject', '=', subject)
      .execute()
    return { user, row }
  }
  const username = await findFreeName(trx, name)
  const plan = context.defaultPlan
  const user = await claimName(trx, { username, plan, role: 'user', kind: 'user', now, mayClaim: false })
  const added = { issuer, subject, user_id: user.id, admin: 0, created_at: now, signed_in_at: now }
  await trx.insertInto('identities').values(added).execute()
  const data = { plan, issuer, subject, name: name.slice(0, 100) }
  await recordAudit(trx, { caller: guest, action: 'user.create', subject: username, at: now, data })
  return { user, row: added }
}

/**
 * The name at the provider as a username that no user, organisation or imported author has: `alice`, else `alice-2`.
 */
async function findFreeName(trx: WriteTransaction, name: string): Promise<string> {
  const base = toUsername(name)
  // Most names are free, so the first query tests one name. Later queries test more, so that a name that many users
  // have needs few queries.
  for (let [first, count] = [1, 1]; ; first += count, count = Math.min(count * 10, 1000)) {
    const candidates = Array.from({ length: count }, (_, i) => toNumbered(base, first + i))
    const rows = await trx.selectFrom('users').select('username').where('username', 'in', candidates).execute()
    const taken = new Set([...reservedOwners, ...rows.map(({ username }) => username)])
    const free = candidates.find((username) => !taken.has(username))
    if (free !== undefined) return free
  }
}

function toNumbered(base: string, number: number): string {
  const end = number === 1 ? '' : `-${number}`
  return `${base.slice(0, limits.usernameCharactersMax - end.length).replace(/-$/, '')}${end}`
}

/** `Älice.Smith@corp.example` becomes `alice-smith`. */
function toUsername(name: string): string {
  const username = name
    .slice(0, 200)
    .replace(/@.*$/s, '')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, limits.usernameCharactersMax)
    .replaceAll(/^-|-$/g, '')
  return isUsername(username) ? username : 'user'
}

/**
 * Applies the display name and the groups that the provider reports for an account. Returns why rules could not be
 * applied.
 */
async function applyIdentity(
  context: AccountsContext,
  trx: WriteTransaction,
  { user, row }: Bound,
  { displayName, groups }: Identity,
  rules: readonly GroupRule[],
): Promise<string[]> {
  const shown = toVisibleText(displayName ?? '')
    .slice(0, limits.displayNameCharactersMax)
    .toWellFormed()
    .trim()
  if (shown !== '' && shown !== user.display_name) await renameUser(trx, user.id, shown)
  if (groups === undefined) return []
  const given = new Set(groups)
  const gifts = rules.filter(({ group }) => given.has(group)).map(({ gives }) => gives)
  await applyAdministrator(context, trx, { user, row }, gifts.includes('administrators'))
  return applyMemberships(context, trx, user, gifts)
}

/**
 * Gives or removes the role of an administrator. A role that a group gave ends with the group; a role that an
 * administrator gave stays.
 */
async function applyAdministrator({ clock }: StorageContext, trx: WriteTransaction, bound: Bound, isGiven: boolean) {
  const { user, row } = bound
  const isByGroups = row.admin === 1
  if (isGiven ? user.role === 'admin' : !isByGroups) return
  const role = isGiven ? 'admin' : 'user'
  await trx.updateTable('users').set({ role }).where('id', '=', user.id).execute()
  await trx
    .updateTable('identities')
    .set({ admin: Number(isGiven) })
    .where('issuer', '=', row.issuer)
    .where('subject', '=', row.subject)
    .execute()
  const data = { role, by: 'groups' }
  await recordAudit(trx, { caller: guest, action: 'user.update', subject: user.username, at: clock.now(), data })
}

type Membership = Exclude<GroupRule['gives'], string>

async function applyMemberships(
  context: AccountsContext,
  trx: WriteTransaction,
  user: UserRow,
  gifts: readonly GroupRule['gives'][],
): Promise<string[]> {
  const skipped: string[] = []
  const memberships = gifts.filter((gift): gift is Membership => gift !== 'administrators')
  const keptOrganisations: string[] = []
  const keptTeams: string[] = []
  for (const [name, ofOne] of Map.groupBy(memberships, ({ organisation }) => organisation)) {
    const organisation = await ensureOrganisation(context, trx, name)
    if (!organisation) {
      skipped.push(`${name} is the name of a user, of an imported author or of a page`)
      continue
    }
    keptOrganisations.push(organisation.id)
    const roles = new Set(ofOne.map((gift) => ('role' in gift ? gift.role : 'reader')))
    await applyRole(
      context,
      trx,
      { organisation, user },
      memberRoles.find((role) => roles.has(role))!,
    )
    for (const gift of ofOne) {
      if (!('team' in gift)) continue
      const team =
        (await findTeam(trx, organisation.id, gift.team)) ?? (await insertTeam(context, trx, organisation, gift.team))
      keptTeams.push(team.id)
      await addRow(trx, 'team_members', { team_id: team.id, user_id: user.id, by_groups: 1 })
    }
  }
  await removeLost(context, trx, user, keptOrganisations, keptTeams)
  return skipped
}

/**
 * Finds the organisation that a rule names, or creates it at the sign-in of its first member. Returns undefined if the
 * name is reserved or is that of a user.
 */
async function ensureOrganisation({ clock, defaultPlan }: AccountsContext, trx: WriteTransaction, name: string) {
  const found = await findOrganisation(trx, name)
  if (found || reservedOwners.has(name) || (await hasRow(trx, 'users', { username: name }))) return found
  const at = clock.now()
  const created = { username: name, plan: defaultPlan, role: 'user', kind: 'organisation', now: at } as const
  await recordAudit(trx, { caller: guest, action: 'organisation.create', subject: name, at, data: { by: 'groups' } })
  return claimName(trx, { ...created, mayClaim: false })
}

/**
 * Gives a role in an organisation, or changes a role that a group gave. A role that the organisation itself gave stays.
 */
async function applyRole(
  { clock }: StorageContext,
  trx: WriteTransaction,
  { organisation, user }: { organisation: UserRow; user: UserRow },
  role: MemberRole,
) {
  const key = { organisation_id: organisation.id, user_id: user.id }
  const at = clock.now()
  const isNew = await addRow(trx, 'members', { ...key, role, created_at: at, by_groups: 1 })
  const { numUpdatedRows } = await trx
    .updateTable('members')
    .set({ role })
    .where((eb) => eb.and({ ...key, by_groups: 1 }))
    .where('role', '!=', role)
    .executeTakeFirst()
  if (!isNew && numUpdatedRows === 0n) return
  await removeRows(trx, 'member_invitations', key)
  const data = { username: user.username, role, by: 'groups' }
  const subject = organisation.username
  await recordAudit(trx, { caller: guest, action: 'organisation.member.put', subject, at, data })
}

/** Removes the memberships that groups gave, except those in the given organisations and teams. */
async function removeLost(
  { clock }: StorageContext,
  trx: WriteTransaction,
  user: UserRow,
  organisations: readonly string[],
  teams: readonly string[],
) {
  await trx
    .deleteFrom('team_members')
    .where('user_id', '=', user.id)
    .where('by_groups', '=', 1)
    .$if(teams.length > 0, (removal) => removal.where('team_id', 'not in', teams))
    .execute()
  const lost = await trx
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.organisation_id')
    .select(['users.id', 'users.username'])
    .where('members.user_id', '=', user.id)
    .where('members.by_groups', '=', 1)
    .$if(organisations.length > 0, (query) => query.where('members.organisation_id', 'not in', organisations))
    .execute()
  for (const organisation of lost) {
    await removeMember(trx, organisation, user.id)
    const data = { username: user.username, by: 'groups' }
    const entry = { caller: guest, action: 'organisation.member.delete', subject: organisation.username }
    await recordAudit(trx, { ...entry, at: clock.now(), data })
  }
}

import { isLoopbackHost, limits, matchesExactly, RegistryError, toTimestamp, ciServices } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { type Caller, guest, requireAccount } from '../kernel/caller.ts'
import { hourMs, minuteMs } from '../kernel/clock.ts'
import { invalidField } from '../kernel/field-errors.ts'
import { newId } from '../kernel/ids.ts'
import type { Operation } from '../kernel/operation-input.ts'
import { hashToken } from '../kernel/tokens.ts'
import { recordAudit } from '../log/audit.ts'
import { countRows } from '../storage/count-rows.ts'
import { readPage } from '../storage/read-page.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { addRow, hasRow } from '../storage/table-rows.ts'
import { parseJson, type Tables, type TrustedPublisherRow, type UserRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { AccountsContext } from './accounts-context.ts'
import { createKey, insertKey, requireOwnerOrFullName } from './api-keys.ts'
import { requireMemberRight } from './organisations.ts'

/** Lifetime of a key that a CI job gets for its token. */
const keyMs = 15 * minuteMs
/** Maximum remaining lifetime of a token of a CI job. A digest of each used token is stored until the token expires. */
const tokenMsMax = 24 * hourMs
/**
 * Maximum number of characters of a claim that are stored with a key, and shown with the versions that the key
 * published.
 */
const shownClaimMax = 500

/**
 * GET /trusted-publishers: the identities of CI jobs that the caller trusts, or that an organisation trusts which the
 * caller administers.
 */
export const listTrustedPublishers: Operation<'listTrustedPublishers', StorageContext> = async (
  context,
  input,
  caller,
) => {
  const { read } = context.database
  const owner = await getTrusting(read, input.owner ?? requireAccount(caller).username, caller)
  const all = read.selectFrom('trusted_publishers').where('owner_id', '=', owner.id)
  const { rows, paging } = await readPage(all, all.selectAll().orderBy('target').orderBy('id'), input)
  return { publishers: rows.map(toTrustedPublisher), ...paging }
}

/**
 * PUT /trusted-publishers: trusts an identity of CI jobs to publish a target. The same identity for the same target is
 * stored once. Throws `invalid_request` for an issuer that is not public, and for claims that jobs of strangers could
 * have.
 */
export const putTrustedPublisher: Operation<'putTrustedPublisher', AccountsContext> = async (
  context,
  { target, issuer, claims },
  caller,
) => {
  const { username } = requireAccount(caller)
  requireOwnerOrFullName('target', target)
  const name = toTargetOwner(target)
  await requireIssuer(context, issuer)
  refuseWideClaims(issuer, claims)
  return context.database.writer.write(async (trx) => {
    const owner = await getTrusting(trx, name, caller)
    const of = trx.selectFrom('trusted_publishers').where('owner_id', '=', owner.id)
    const stored = JSON.stringify(Object.fromEntries(Object.entries(claims).toSorted()))
    const same = await of
      .selectAll()
      .where('target', '=', target)
      .where('issuer', '=', issuer)
      .where('claims', '=', stored)
      .executeTakeFirst()
    if (same) return toTrustedPublisher(same)
    if ((await countRows(of)) >= limits.trustedPublishersPerOwnerMax)
      throw new RegistryError(
        'conflict',
        `${name} already trusts ${limits.trustedPublishersPerOwnerMax} identities, the maximum. Remove one first.`,
      )
    const at = context.clock.now()
    const row: TrustedPublisherRow = {
      id: newId(),
      owner_id: owner.id,
      target,
      issuer,
      claims: stored,
      created_by: username,
      created_at: at,
    }
    await trx.insertInto('trusted_publishers').values(row).execute()
    await recordAudit(trx, { caller, action: 'trust.add', subject: target, at, data: { id: row.id, issuer, claims } })
    return toTrustedPublisher(row)
  })
}

/** DELETE /trusted-publishers/<id>: stops trusting an identity. Keys that CI jobs got by this identity end at once. */
export const deleteTrustedPublisher: Operation<'deleteTrustedPublisher', StorageContext> = async (
  context,
  { id },
  caller,
) => {
  await context.database.writer.write(async (trx) => {
    const row = await trx
      .selectFrom('trusted_publishers')
      .innerJoin('users', 'users.id', 'trusted_publishers.owner_id')
      .selectAll('trusted_publishers')
      .select('users.username')
      .where('trusted_publishers.id', '=', id)
      .executeTakeFirst()
    if (!row || !(await mayTrust(trx, row.username, caller)))
      throw new RegistryError('not_found', 'You have no trusted identity with this id. `trust list` shows yours.')
    await trx.deleteFrom('trusted_publishers').where('id', '=', id).execute()
    await endKeysOf(trx, row)
    const [at, data] = [context.clock.now(), { id, issuer: row.issuer, claims: parseJson(row.claims) }]
    await recordAudit(trx, { caller, action: 'trust.remove', subject: row.target, at, data })
  })
}

/**
 * Deletes the keys that jobs with this identity got, even if another trusted identity also allows these jobs to
 * publish.
 */
async function endKeysOf(trx: WriteTransaction, { owner_id, target, issuer, claims }: TrustedPublisherRow) {
  const keys = await trx
    .selectFrom('api_keys')
    .select(['id', 'identity', 'limited_to'])
    .where('user_id', '=', owner_id)
    .where('identity', 'is not', null)
    .execute()
  const ended = keys.filter(({ identity, limited_to }) => {
    const proven = parseJson(identity!)
    const fits = Object.entries(parseJson(claims)).every(([name, pattern]) => {
      const value = proven.claims[name]
      // A value of the maximum length may have been cut. Whether the full value fits is unknown, so the key is deleted.
      return value !== undefined && (value.length >= shownClaimMax || matchesExactly(pattern, value))
    })
    return proven.issuer === issuer && fits && limited_to!.split(' ').some((allowed) => covers(target, allowed))
  })
  for (const { id } of ended) await trx.deleteFrom('api_keys').where('id', '=', id).execute()
}

function toTargetOwner(target: string): string {
  return target.split('/', 1)[0]!
}

/**
 * The user or organisation with a name, if the caller may decide which identities this owner trusts. Throws
 * `forbidden`.
 */
async function getTrusting(db: Kysely<Tables>, name: string, caller: Caller): Promise<UserRow> {
  const row = await db.selectFrom('users').selectAll().where('username', '=', name).executeTakeFirst()
  if (row?.kind === 'organisation' && row.claimed) {
    await requireMemberRight(db, row, caller, 'administer')
    return row
  }
  if (row && row.id === requireAccount(caller).userId) return row
  throw new RegistryError(
    'forbidden',
    `Only ${name} decides which identities may publish there. Name a skill of your own, or of an organisation that you administer.`,
  )
}

async function mayTrust(db: Kysely<Tables>, name: string, caller: Caller): Promise<boolean> {
  try {
    await getTrusting(db, name, caller)
    return true
  } catch (error) {
    if (error instanceof RegistryError) return false
    throw error
  }
}

async function requireIssuer({ outgoing }: Pick<AccountsContext, 'outgoing'>, issuer: string): Promise<void> {
  const url = await outgoing.requirePublic(issuer, 'issuer')
  if (url.search !== '' || url.hash !== '') throw invalidField('issuer', 'must not have a query or a fragment')
  if (url.protocol !== 'https:' && !isLoopbackHost(url))
    throw invalidField('issuer', 'must be an https URL: its keys decide who may publish')
}

/** Whether any owner trusts identities of an issuer. The node asks no other issuers for their signing keys. */
export function isTrustedIssuer({ database }: StorageContext, issuer: string): Promise<boolean> {
  return hasRow(database.read, 'trusted_publishers', { issuer })
}

/** The claims of a token whose signature, issuer, audience and times were checked. */
export interface ProvenIdentity {
  readonly issuer: string
  readonly claims: Readonly<Record<string, unknown>>
  /** Identifies the token among all tokens of its issuer. */
  readonly tokenId: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/** An API key of a CI job, and the owners or skills that it may publish. */
interface PublishingKey {
  readonly key: string
  readonly targets: readonly string[]
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/**
 * Creates an API key with which a CI job may publish for 15 minutes. `target` is an owner or the full name of a skill;
 * the key is limited to what within `target` trusts the identity of the job. The job must name its target, because any
 * user can trust jobs of other users. Requests with the key act as the owner of the skills. Throws `forbidden` if
 * nothing within `target` trusts the identity, or if the token was used before.
 */
export async function exchangeIdentity(
  context: StorageContext,
  proven: ProvenIdentity,
  target: string,
): Promise<PublishingKey> {
  const { database, clock } = context
  const { issuer, claims, tokenId } = proven
  const owner = toTargetOwner(target)
  const now = clock.now()
  if (proven.expiresAt > now + tokenMsMax)
    throw new RegistryError('forbidden', 'This token expires in more than a day. Ask your CI for a shorter lifetime.')
  const { key, ...secret } = createKey()
  const made = await database.writer.write(async (trx) => {
    const rows = (await selectTrusting(trx, issuer, owner)).filter((row) => covers(row.target, target))
    const wanted = rows.filter((row) => findMismatches(parseJson(row.claims), claims).length === 0)
    if (wanted.length === 0) throw new RegistryError('forbidden', describeMisfit(target, rows, claims))
    const userId = wanted[0]!.owner_id
    const hash = hashToken(`${issuer}\n${tokenId}`)
    // One minute longer than the token is valid: the check of its times allows this difference between the clocks of
    // the issuer and this node.
    if (!(await addRow(trx, 'used_states', { hash, expires_at: proven.expiresAt + minuteMs })))
      throw new RegistryError('forbidden', 'This token was exchanged before. Ask your CI for a new one.')
    const identity = toIdentity(issuer, wanted, claims)
    const targets = toTargets(wanted, target)
    const endsAt = now + keyMs
    const apiKey = await insertKey(
      trx,
      {
        userId,
        name: `CI: ${new URL(issuer).host}`,
        scopes: ['publish'],
        now,
        maker: { id: null, endsAt },
        limitedTo: targets.join(' '),
        identity,
      },
      secret,
    )
    const data = { key: apiKey.id, targets, ...identity }
    await recordAudit(trx, { caller: guest, action: 'identity.exchange', subject: owner, at: now, data })
    await trx
      .deleteFrom('api_keys')
      .where('user_id', '=', userId)
      .where('identity', 'is not', null)
      .where('expires_at', '<=', now)
      .execute()
    return { targets, expiresAt: endsAt }
  })
  return { key, ...made }
}

/** Records in the audit log that a token of a CI job was refused. */
export async function refuseExchange({ database, clock }: StorageContext, issuer: string, reason: string) {
  const [at, data] = [clock.now(), { reason: reason.slice(0, 500) }]
  await database.writer.write((trx) =>
    recordAudit(trx, { caller: guest, action: 'identity.refuse-exchange', subject: issuer, at, data }),
  )
}

function selectTrusting(trx: WriteTransaction, issuer: string, owner: string): Promise<TrustedPublisherRow[]> {
  return trx
    .selectFrom('trusted_publishers')
    .innerJoin('users', 'users.id', 'trusted_publishers.owner_id')
    .selectAll('trusted_publishers')
    .where('users.username', '=', owner)
    .where('trusted_publishers.issuer', '=', issuer)
    .where('users.disabled', '=', 0)
    .where('users.claimed', '=', 1)
    .orderBy('trusted_publishers.target')
    .execute()
}

type ClaimPatterns = Readonly<Record<string, string>>

/**
 * Claims by which issuers mark jobs of pull and merge requests, whose code may come from a stranger. Such jobs are
 * refused unless the trusted identity names the claim.
 */
const unreviewed: Readonly<Record<string, RegExp>> = {
  // GitHub
  event_name: /^pull_request/,
  // GitLab
  pipeline_source: /merge_request|pull_request/,
}

/** The names of the claims that do not fit the patterns, or that mark a job of a pull or merge request. */
function findMismatches(patterns: ClaimPatterns, claims: ProvenIdentity['claims']): string[] {
  const wrong = Object.entries(patterns).filter(([name, pattern]) => {
    const value = toClaimText(claims, name)
    return value === undefined || !matchesExactly(pattern, value)
  })
  const hidden = Object.entries(unreviewed).filter(
    ([name, pattern]) => patterns[name] === undefined && pattern.test(toClaimText(claims, name) ?? ''),
  )
  return [...wrong, ...hidden].map(([name]) => name)
}

/** The text of a claim; undefined if the claim is a list or an object, or is missing. */
function toClaimText(claims: ProvenIdentity['claims'], name: string): string | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : findNested(claims, name)
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined
}

/** Kubernetes nests the claims of a service account: `kubernetes.io/serviceaccount/name`. */
function findNested(claims: ProvenIdentity['claims'], name: string): unknown {
  if (!name.startsWith('kubernetes.io/')) return undefined
  let found: unknown = claims
  for (const part of name.split('/')) {
    if (typeof found !== 'object' || found === null) return undefined
    found = Object.getOwnPropertyDescriptor(found, part)?.value
  }
  return found
}

function describeMisfit(target: string, rows: readonly TrustedPublisherRow[], claims: ProvenIdentity['claims']) {
  const closest = rows
    .map((row) => findMismatches(parseJson(row.claims), claims))
    .toSorted((a, b) => a.length - b.length)[0]
  const request = Object.entries(unreviewed).find(([name, pattern]) => pattern.test(toClaimText(claims, name) ?? ''))
  if (request && closest?.includes(request[0]))
    return `Jobs of pull and merge requests may not publish (${request[0]} is ${toClaimText(claims, request[0])}). Publish from a branch or tag.`
  const shown = (closest ?? []).map((name) => `${name} is ${toClaimText(claims, name)?.slice(0, 200) ?? 'absent'}`)
  return `${target} does not trust this identity: ${shown.join(', ') || 'it trusts no job of this issuer'}. Its owner can add it with \`skillstead trust add\`.`
}

/**
 * Whether an identity that is trusted for `trusted` may publish `target` or some skill of it. `trusted` and `target`
 * are each an owner or the full name of a skill.
 */
function covers(trusted: string, target: string): boolean {
  return trusted === target || target.startsWith(`${trusted}/`) || trusted.startsWith(`${target}/`)
}

/** The owners or skills that the key may publish: the requested target, or the trusted skills within it. */
function toTargets(rows: readonly TrustedPublisherRow[], asked: string): string[] {
  const all = [...new Set(rows.map((row) => (row.target.length > asked.length ? row.target : asked)))]
  return all.filter((target) => !all.some((other) => target.startsWith(`${other}/`)))
}

/**
 * The identity that is stored with a key: the issuer, and the claims that the trusted identities name. This identity
 * becomes public with each version that the key publishes.
 */
function toIdentity(issuer: string, rows: readonly TrustedPublisherRow[], claims: ProvenIdentity['claims']) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(parseJson(row.claims))))].toSorted()
  return {
    issuer,
    claims: Object.fromEntries(names.map((name) => [name, (toClaimText(claims, name) ?? '').slice(0, shownClaimMax)])),
  }
}

function toTrustedPublisher({ id, target, issuer, claims, created_by, created_at }: TrustedPublisherRow) {
  const createdAt = toTimestamp(created_at)
  return { id, target, issuer, claims: parseJson(claims), createdBy: created_by, createdAt }
}

/**
 * Throws `invalid_request` for claims that jobs of strangers could have: no claim identifies the owner of the job, or
 * only a pattern does whose `*` begins before the end of the owner's name.
 */
function refuseWideClaims(issuer: string, claims: Readonly<Record<string, string>>): void {
  const services = Object.values(ciServices)
  const names = services.find((service) => service.issuer === issuer.replace(/\/+$/, ''))?.identifying
  const chosen = Object.entries(claims).filter(([name]) => !names || names.includes(name))
  if (chosen.some(([, value]) => isNarrow(value))) return
  throw invalidField(
    'claims',
    `must name ${names ? `one of ${names.join(', ')}` : 'a claim'} with a value, or a pattern whose \`*\` follows a complete owner, as in acme/*: otherwise strangers could publish`,
  )
}

/**
 * Whether a value or pattern fits only jobs of one owner: `repo:*` and `acme*` also fit jobs of strangers; `acme/*`,
 * `repo:acme/*` and `organization:acme:*` do not.
 */
function isNarrow(value: string): boolean {
  const star = value.indexOf('*')
  return star === -1 || /[^/:]\/$|:[^/:]+:$/.test(value.slice(0, star))
}

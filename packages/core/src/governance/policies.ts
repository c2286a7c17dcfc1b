import {
  type Policy,
  type PolicyRefusal,
  toTimestamp,
  withoutUndefined,
  type Access,
  matchesPattern,
  type MemberRole,
  type Security,
} from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { getOrganisation, requireMemberRight } from '../accounts/organisations.ts'
import type { Judged, PolicyJudgement } from '../catalogue/context/ports.ts'
import { getSkill } from '../catalogue/skills/find-skill.ts'
import { unreadAccess } from '../catalogue/versions/inspection.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Operation } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { compileQuery, type Param } from '../storage/compiled-query.ts'
import { readPages } from '../storage/pages.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { parseJson, type SkillRow, type Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { findRoles, requireRight } from '../visibility/rights.ts'

const noPolicy: Policy = {}

/** GET /organisations/<name>/policy: the policy of an organisation, for its members and for administrators. */
export const getPolicy: Operation<'getPolicy', StorageContext> = async (context, { organisation }, caller) => {
  const { read } = context.database
  const row = await getOrganisation(read, organisation)
  await requireMemberRight(read, row, caller, 'read')
  return readPolicy(read, row.id)
}

/** PUT /organisations/<name>/policy: replaces the policy, for users who administer the organisation. */
export const setPolicy: Operation<'setPolicy', StorageContext> = async (context, { organisation, policy }, caller) =>
  context.database.writer.write(async (trx) => {
    const row = await getOrganisation(trx, organisation)
    await requireMemberRight(trx, row, caller, 'administer')
    return putPolicy(context, trx, { id: row.id, subject: row.username, action: 'organisation.policy', policy }, caller)
  })

/** GET /skills/<name>/policy: the policy of a skill, for users who may read it even if it is private. */
export const getSkillPolicy: Operation<'getSkillPolicy', StorageContext> = async (context, { name }, caller) => {
  const skill = await getSkill(context, name, caller)
  await requireRight(context.database.read, skill, caller, 'readPrivate')
  return readPolicy(context.database.read, skill.id)
}

/**
 * PUT /skills/<name>/policy, for users who may manage the skill. The policy of an organisation's skill is set only by
 * users who administer the organisation.
 */
export const setSkillPolicy: Operation<'setSkillPolicy', StorageContext> = async (context, input, caller) => {
  const { name, policy } = input
  const found = await getSkill(context, name, caller)
  return context.database.writer.write(async (trx) => {
    const skill = await trx.selectFrom('skills').selectAll().where('id', '=', found.id).executeTakeFirstOrThrow()
    const owner = await trx.selectFrom('users').selectAll().where('id', '=', skill.owner_id).executeTakeFirstOrThrow()
    if (owner.kind === 'organisation') await requireMemberRight(trx, owner, caller, 'administer')
    else await requireRight(trx, skill, caller, 'manage')
    return putPolicy(context, trx, { id: skill.id, subject: skill.full_name, action: 'skill.policy', policy }, caller)
  })
}

/**
 * POST /organisations/<name>/policy/test: judges the latest versions of all live skills of the organisation by a
 * policy.
 */
export const testPolicy: Operation<'testPolicy', StorageContext> = async (context, input, caller) => {
  const { read } = context.database
  const row = await getOrganisation(read, input.organisation)
  await requireMemberRight(read, row, caller, 'administer')
  const policy = input.policy ?? (await readPolicy(read, row.id)).policy
  const readAfter = (name: string) =>
    read
      .selectFrom('skills')
      .innerJoin('versions', (join) =>
        join.onRef('versions.skill_id', '=', 'skills.id').onRef('versions.version', '=', 'skills.latest_version'),
      )
      .leftJoin('scans', 'scans.version_id', 'versions.id')
      .leftJoin('version_access', 'version_access.version_id', 'versions.id')
      .select(['skills.full_name', 'skills.name', 'skills.license', 'skills.category', 'skills.repository'])
      .select(['skills.keywords', 'versions.version', 'versions.size', 'scans.verdict', 'version_access.access'])
      .where('skills.owner_id', '=', row.id)
      .where('skills.state', '=', 'live')
      .where('skills.name', '>', name)
      .orderBy('skills.name')
      .limit(testedPerQuery)
      .execute()
  const skills: { fullName: string; version: string; refusals: PolicyRefusal[] }[] = []
  let tested = 0
  for await (const rows of readPages('', readAfter, ({ name }) => name)) {
    tested += rows.length
    for (const { full_name: fullName, version, size, verdict, access, ...skill } of rows) {
      const submitted = {
        size,
        verdict: verdict ?? 'caution',
        access: access === null ? unreadAccess : parseJson(access),
      } as const
      const submission = { ...toSubmission(skill), becomesPublic: false, roles: [], version: submitted }
      const refusals = findRefusals(policy, submission)
      if (refusals.length > 0) skills.push({ fullName, version, refusals })
    }
  }
  return { skills, tested }
}

/** Skills per query of {@link testPolicy}. */
const testedPerQuery = 500

/** Judges a change by a policy that {@link readEffectivePolicy} read. */
export async function judgeByPolicy(trx: WriteTransaction, policy: Policy, change: Judged): Promise<PolicyJudgement> {
  if (policy === noPolicy) return { refusals: [], approvals: 0 }
  const { skill, before, version, publisherId } = change
  const becomesPublic = skill.visibility === 'public' && before?.visibility !== 'public'
  const roles = becomesPublic && policy.publicBy ? await findRoles(trx, skill, publisherId) : []
  const refusals = findRefusals(policy, { ...toSubmission(skill), becomesPublic, roles, version })
  const { count = 0, when } = policy.approvals ?? {}
  return { refusals, approvals: when === 'widens' && version?.widens === false ? 0 : count }
}

/**
 * The policy that applies to a skill, which need not exist yet: the policy of its owner, in which fields of the skill's
 * own policy replace the fields of the same names.
 */
export async function readEffectivePolicy(
  db: Kysely<Tables>,
  { full_name: fullName, owner_id: ownerId }: Pick<SkillRow, 'full_name' | 'owner_id'>,
): Promise<Policy> {
  const rows = await selectPolicies(db, { fullName, ownerId })
  if (rows.length === 0) return noPolicy
  const [ofOwner, ofSkill] = [true, false].map((isOwner) => {
    const row = rows.find(({ subject_id }) => (subject_id === ownerId) === isOwner)
    return row ? withoutUndefined(parseJson(row.policy)) : noPolicy
  })
  return { ...ofOwner, ...ofSkill }
}

const selectPolicies = compileQuery((db, param: Param<{ fullName: string; ownerId: string }>) =>
  db
    .selectFrom('policies')
    .select(['subject_id', 'policy'])
    .where((eb) =>
      eb.or([
        eb('subject_id', '=', param('ownerId')),
        eb('subject_id', '=', eb.selectFrom('skills').select('id').where('full_name', '=', param('fullName'))),
      ]),
    ),
)

function toSubmission(
  skill: Pick<SkillRow, 'name' | 'license' | 'category' | 'repository' | 'keywords'>,
): Omit<Submission, 'becomesPublic' | 'roles'> {
  const { name, license, category, repository } = skill
  return { name, license, category, repository, keywords: parseJson(skill.keywords) }
}

/** Removes the policy of a skill or an organisation. */
export async function forgetPolicy(trx: WriteTransaction, subjectId: string): Promise<void> {
  await trx.deleteFrom('policies').where('subject_id', '=', subjectId).execute()
}

async function readPolicy(db: Kysely<Tables>, subjectId: string) {
  const row = await db.selectFrom('policies').selectAll().where('subject_id', '=', subjectId).executeTakeFirst()
  return { policy: row ? parseJson(row.policy) : noPolicy, updatedAt: row ? toTimestamp(row.updated_at) : null }
}

async function putPolicy(
  { clock }: StorageContext,
  trx: WriteTransaction,
  { id, subject, action, policy }: { id: string; subject: string; action: string; policy: Policy },
  caller: Caller,
) {
  const at = clock.now()
  await forgetPolicy(trx, id)
  const isEmpty = Object.keys(withoutUndefined(policy)).length === 0
  if (!isEmpty) {
    const row = { subject_id: id, policy: JSON.stringify(policy), updated_at: at }
    await trx.insertInto('policies').values(row).execute()
  }
  await recordAudit(trx, { caller, action, subject, at, data: { policy } })
  return readPolicy(trx, id)
}

/** The properties of a skill that a policy judges. */
interface Submission {
  readonly name: string
  readonly license: string
  readonly category: string
  readonly keywords: readonly string[]
  readonly repository: string
  /** Whether the change makes the skill public. */
  readonly becomesPublic: boolean
  /** The roles of the publisher on the skill. */
  readonly roles: readonly MemberRole[]
  /** The version; undefined if only settings change. */
  readonly version?:
    | { readonly size: number; readonly verdict: Security['verdict']; readonly access: Access }
    | undefined
}

type Rule = (policy: Policy, submission: Submission) => string | false | undefined

/** The rules, each with the field of the policy that it reads; a rule returns why a submission breaks it. */
const rules: Readonly<Partial<Record<keyof Policy, Rule>>> = {
  verdict: ({ verdict: worst }, { version }) =>
    worst !== undefined &&
    version !== undefined &&
    (version.verdict === 'dangerous' || (version.verdict === 'caution' && worst === 'safe')) &&
    `The scan says ${version.verdict}; at most ${worst} is accepted.`,
  licenses: ({ licenses }, { license }) =>
    licenses?.every((one) => one.toLowerCase() !== license.toLowerCase()) &&
    `The licence ${license === '' ? 'is missing' : `is ${license}`}; accepted are ${licenses.join(', ') || 'none'}.`,
  withoutAccess({ withoutAccess = [] }, { version }) {
    const used = withoutAccess.filter((kind) => version !== undefined && version.access[kind].length > 0)
    return (
      used.length > 0 && `It uses ${used.map((kind) => `${kind} (${version!.access[kind].join(', ')})`).join(' and ')}.`
    )
  },
  hosts({ hosts }, { version }) {
    const others = version?.access.hosts.filter((host) => hosts?.every((pattern) => !matchesPattern(pattern, host)))
    return (
      hosts &&
      others &&
      others.length > 0 &&
      `It contacts ${others.join(', ')}; accepted are ${hosts.join(', ') || 'none'}.`
    )
  },
  requires({ requires = [] }, submission) {
    const missing = requires.filter((field) => submission[field].length === 0)
    return missing.length > 0 && `It has no ${missing.join(', ')}.`
  },
  sizeMax: ({ sizeMax }, { version }) =>
    sizeMax !== undefined &&
    version !== undefined &&
    version.size > sizeMax &&
    `It has ${version.size} bytes; at most ${sizeMax} are accepted.`,
  namePattern: ({ namePattern }, { name }) =>
    namePattern !== undefined &&
    !matchesPattern(namePattern, name) &&
    `The name ${name} does not match ${namePattern}.`,
  publicBy: ({ publicBy }, { becomesPublic, roles }) =>
    becomesPublic &&
    publicBy?.every((role) => !roles.includes(role)) &&
    `Only ${publicBy.join(' or ') || 'no role'} may make a skill public.`,
}

/** Every rule of a policy that a submission breaks. */
function findRefusals(policy: Policy, submission: Submission): PolicyRefusal[] {
  return Object.entries(rules).flatMap(([field, rule]) => {
    const message = rule(policy, submission)
    return message ? [{ path: `policy.${field}`, message }] : []
  })
}

import * as v from 'valibot'
import { scopes } from '../scopes.ts'
import { planNames } from '../plans.ts'
import { AvatarUrl, Count, Id, Timestamp, pageFields } from './fields.ts'
import { Skill } from './skill.ts'

export const Scope = v.picklist(scopes)

export const Plan = v.picklist(planNames)
export const Role = v.picklist(['user', 'admin'])

/** An API key without its secret. */
export const ApiKey = v.object({
  id: Id,
  name: v.string(),
  prefix: v.string(),
  scopes: v.array(Scope),
  createdAt: Timestamp,
  lastUsedAt: v.nullable(Timestamp),
  expiresAt: v.nullable(Timestamp),
  /** Id of the key that made this key, directly or by a session. Null if no key made it, or if that key is unknown. */
  madeBy: v.optional(v.nullable(Id)),
  /** The owner, or the full name of the skill, that the key is limited to. */
  limitedTo: v.optional(v.nullable(v.string())),
  /** In lists: number of valid keys and share links that this key made. */
  made: v.optional(Count),
})
export type ApiKey = v.InferOutput<typeof ApiKey>

/** A session of the dashboard without its token. */
export const Session = v.object({
  id: v.string(),
  /** The name of the API key, or the address of the identity provider, that opened the session. */
  openedBy: v.string(),
  createdAt: Timestamp,
  /** Accurate to one minute. */
  lastUsedAt: Timestamp,
  /** When the session ends at the latest. An unused session ends earlier. */
  expiresAt: Timestamp,
  /** Whether the session made this request. */
  current: v.boolean(),
})
export type Session = v.InferOutput<typeof Session>

/** A newly created key: the only response that contains it. */
export const NewApiKey = v.object({ ...ApiKey.entries, key: v.string() })

const userFields = {
  id: Id,
  username: v.string(),
  displayName: v.string(),
  avatarUrl: AvatarUrl,
  createdAt: Timestamp,
}

export const VerificationMethod = v.picklist(['github', 'domain', 'manual'])

/** `subject`: the account or domain by which a user was verified; null if an administrator decided. */
const Verifications = v.array(v.object({ method: VerificationMethod, subject: v.nullable(v.string()) }))

/** The caller, as returned by `GET /users/me`. */
export const Me = v.object({
  ...userFields,
  plan: Plan,
  role: Role,
  /** The address for notices, which only the user sees. Null if the user has no address. */
  email: v.optional(v.nullable(v.string())),
  verified: v.array(VerificationMethod),
  verifications: Verifications,
  counts: v.object({ skills: Count, packs: Count, webhooks: Count, followers: Count, following: Count }),
})
export type Me = v.InferOutput<typeof Me>

/** A user as administrators see them. */
export const User = v.object({
  ...userFields,
  kind: v.picklist(['user', 'organisation']),
  plan: Plan,
  role: Role,
  disabled: v.boolean(),
  claimed: v.boolean(),
})
export type User = v.InferOutput<typeof User>

/** A user as everyone sees them. */
export const Profile = v.object({
  ...userFields,
  kind: v.picklist(['user', 'organisation']),
  /** False for an author who came with an import or a mirror, and who cannot sign in. */
  claimed: v.boolean(),
  verified: v.array(VerificationMethod),
  verifications: Verifications,
  counts: v.object({ skills: Count, packs: Count, followers: Count, following: Count }),
  /** A page of the user's public skills, the latest published first. */
  skills: v.array(Skill),
  ...pageFields,
})
export type Profile = v.InferOutput<typeof Profile>

export const AuditEntry = v.object({
  id: Id,
  at: Timestamp,
  actor: v.nullable(v.string()),
  action: v.string(),
  subject: v.string(),
  data: v.record(v.string(), v.unknown()),
})

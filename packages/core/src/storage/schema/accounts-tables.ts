import type { MemberRole, PublisherIdentity, TeamRole } from '@skillstead/protocol'
import { bytes, generated, json, oneOf, optional, text, whole } from './columns.ts'

/** Settings of the node; users with their keys, sessions and verifications. */
export const accountTables = {
  meta: {
    key: text,
    value: text,
  },
  users: {
    id: text,
    username: text,
    display_name: text,
    plan: oneOf<'free' | 'pro' | 'team' | 'enterprise'>(),
    role: oneOf<'user' | 'admin'>(),
    disabled: whole,
    /** 0: a namespace created by an import, a mirror or a stub. No one can sign in to it. */
    claimed: whole,
    created_at: whole,
    /** An organisation has members and cannot sign in. */
    kind: generated(oneOf<'user' | 'organisation'>()),
    /** The address for e-mail notices; null for no notices. Only the user sees the address. */
    email: optional(text),
  },
  avatars: {
    user_id: text,
    content_type: text,
    bytes,
  },
  follows: {
    follower_id: text,
    followed_id: text,
    created_at: whole,
  },
  api_keys: {
    id: text,
    user_id: text,
    name: text,
    prefix: text,
    hash: text,
    scopes: text,
    created_at: whole,
    last_used_at: optional(whole),
    expires_at: optional(whole),
    /** Id of the key that made the row. Null for rows that the operator made, or a guest or an older node. */
    made_by: optional(text),
    /** The owner, or the full names of skills, separated by spaces, that the key is limited to. */
    limited_to: optional(text),
    /** The identity of CI for which the key was made, as JSON. */
    identity: optional(json<PublisherIdentity>()),
  },
  /** Identities of CI that may publish the skills of an owner without a stored secret. */
  trusted_publishers: {
    id: text,
    owner_id: text,
    /** The owner, or the full name of a skill, which may not exist yet. */
    target: text,
    issuer: text,
    /** What the claims of a token must be, by name: exact values, or patterns with `*`. */
    claims: json<Readonly<Record<string, string>>>(),
    created_by: text,
    created_at: whole,
  },
  /** Accounts at an identity provider. A name may change there; issuer and subject never do. */
  identities: {
    issuer: text,
    subject: text,
    user_id: text,
    /** 1: groups of the provider made the user an administrator. */
    admin: generated(whole),
    created_at: whole,
    signed_in_at: whole,
  },
  /** SHA-256 of the states of sign-ins that a provider answered, so that no answer counts twice. */
  used_states: {
    hash: text,
    expires_at: whole,
  },
  sessions: {
    /** SHA-256 of the token. Only the browser stores the token. */
    id: text,
    user_id: text,
    /** The session always has the permissions of this key. Null for a session that an identity provider opened. */
    key_id: optional(text),
    created_at: whole,
    used_at: whole,
    expires_at: whole,
    /** The identity provider, its encrypted refresh token, and when the node asks it next. */
    issuer: optional(text),
    refresh_token: optional(bytes),
    refresh_at: optional(whole),
  },
  /** The members of organisations with the role of each on every skill of the organisation. */
  members: {
    organisation_id: text,
    user_id: text,
    role: oneOf<MemberRole>(),
    created_at: whole,
    /** 1: a group of the identity provider caused the membership; it ends with the group. */
    by_groups: generated(whole),
  },
  member_invitations: {
    organisation_id: text,
    user_id: text,
    role: oneOf<MemberRole>(),
    created_at: whole,
  },
  /** Members of an organisation who have one more role together, on some skills of the organisation. */
  teams: {
    id: text,
    organisation_id: text,
    name: text,
    created_at: whole,
  },
  team_members: {
    team_id: text,
    user_id: text,
    by_groups: generated(whole),
  },
  team_skills: {
    skill_id: text,
    team_id: text,
    role: oneOf<TeamRole>(),
  },
  verifications: {
    id: text,
    user_id: text,
    method: oneOf<'github' | 'domain' | 'manual'>(),
    proof: text,
    token: text,
    status: oneOf<'pending' | 'verified' | 'rejected'>(),
    note: text,
    checked_at: optional(whole),
    /** How many checks the user requested, and how many of these requests the last check covered. */
    asked: whole,
    answered: whole,
    created_at: whole,
  },
  idempotent_answers: {
    id: text,
    body_hash: text,
    /** HTTP status of the answer; below 100 while the first request has no answer, see `accounts/idempotency.ts`. */
    status: whole,
    body: optional(text),
    created_at: whole,
  },
  // State that one request stores for a later request on any node. All rows expire, and restored backups do not contain
  // them.
  /** Programs that wait until a user signs them in. */
  sign_ins: {
    num: generated(whole),
    /** SHA-256 of the two codes. */
    device_hash: text,
    user_hash: text,
    label: text,
    /** SHA-256 of the address of the program, which is personal data. */
    address_hash: text,
    state: oneOf<'pending' | 'allowed' | 'denied'>(),
    /** The key for the program, encrypted with the device code, and the columns that `api_keys` has of it. */
    sealed_key: bytes,
    key_prefix: text,
    key_hash: text,
    /** Minimum time between two polls. */
    interval_seconds: whole,
    polled_at: whole,
    requested_at: whole,
    expires_at: whole,
    scopes: generated(text),
  },
  /** The number of wrong codes that each user typed, and when this count expires. */
  sign_in_guesses: {
    user_id: text,
    wrong: whole,
    until: whole,
  },
  /** Uploaded files for a later publish. */
  uploads: {
    id: text,
    user_id: text,
    size: whole,
    expires_at: whole,
    // The last column: SQLite reads columns after large bytes slowly.
    bytes,
  },
}

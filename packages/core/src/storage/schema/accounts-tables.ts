import type { MemberRole, TeamRole } from '@skillstead/protocol'
import { bytes, generated, oneOf, optional, text, whole } from './columns.ts'

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
    /** Where notices go; null for none. Only the user sees it. */
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
  },
  sessions: {
    /** SHA-256 of the token. Only the browser stores the token. */
    id: text,
    /** The session always has the permissions of this key. */
    key_id: text,
    created_at: whole,
    expires_at: whole,
  },
  /** The members of organisations with the role of each on every skill of the organisation. */
  members: {
    organisation_id: text,
    user_id: text,
    role: oneOf<MemberRole>(),
    created_at: whole,
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
    /** HTTP status of the answer; below 100 if the first request has none, see `accounts/idempotency.ts`. */
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

import { bytes, oneOf, optional, orderedText, primary, table, text, to, unique, whole, zero } from './columns.ts'

/** Settings of the node; users with their keys, sessions and verifications. */
export const accountTables = {
  meta: table({
    key: primary(text),
    value: text,
  }),
  users: table({
    id: primary(text),
    username: unique(orderedText),
    display_name: text,
    plan: oneOf<'free' | 'pro' | 'team' | 'enterprise'>(),
    role: oneOf<'user' | 'admin'>(),
    disabled: zero,
    /** 0: a namespace created by an import, a mirror or a stub. No one can sign in to it. */
    claimed: whole,
    created_at: whole,
  })
    // Finds whether any account can sign in, among many namespaces of imports and mirrors.
    .index('users_claimed', ['claimed'])
    .index('users_disabled', ['disabled']),
  avatars: table({
    user_id: primary(to('users.id')),
    content_type: text,
    bytes,
  }),
  follows: table({
    follower_id: to('users.id'),
    followed_id: to('users.id'),
    created_at: whole,
  })
    .key(['follower_id', 'followed_id'])
    .index('follows_followed', ['followed_id']),
  api_keys: table({
    id: primary(text),
    user_id: to('users.id'),
    name: text,
    prefix: text,
    hash: unique(text),
    scopes: text,
    created_at: whole,
    last_used_at: optional(whole),
    expires_at: optional(whole),
  }).index('api_keys_user', ['user_id']),
  sessions: table({
    /** SHA-256 of the token. Only the browser stores the token. */
    id: primary(text),
    /** The session always has the permissions of this key. */
    key_id: to('api_keys.id', { isCascading: true }),
    created_at: whole,
    expires_at: whole,
  })
    .index('sessions_end', ['expires_at'])
    .index('sessions_key', ['key_id', 'created_at']),
  verifications: table({
    id: primary(text),
    user_id: to('users.id'),
    method: oneOf<'github' | 'domain' | 'manual'>(),
    proof: text,
    token: text,
    status: oneOf<'pending' | 'verified' | 'rejected'>(),
    note: text,
    checked_at: optional(whole),
    /** How many checks the user requested, and how many of these requests the last check covered. */
    asked: zero,
    answered: zero,
    created_at: whole,
  })
    .index('verifications_status', ['status', 'id'])
    .index('verifications_user', ['user_id', 'method']),
  idempotent_answers: table({
    id: primary(text),
    body_hash: text,
    /** HTTP status of the answer; below 100 if the first request has none, see `accounts/idempotency.ts`. */
    status: whole,
    body: optional(text),
    created_at: whole,
  }).index('idempotent_answers_age', ['created_at']),
}

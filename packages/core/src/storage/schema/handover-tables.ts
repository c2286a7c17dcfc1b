import { bytes, oneOf, primary, serial, table, text, to, unique, whole } from './columns.ts'

/** What one request leaves for a later one, on any node. All rows expire; backups that are restored lose them. */
export const handoverTables = {
  /** Programs that wait until a user signs them in. */
  sign_ins: table({
    num: serial,
    /** SHA-256 of the two codes. */
    device_hash: unique(text),
    user_hash: unique(text),
    label: text,
    /** SHA-256 of the address of the program, which is personal data. */
    address_hash: text,
    state: oneOf<'pending' | 'allowed' | 'denied'>(),
    /** The key that the program gets, encrypted with its device code, and what `api_keys` has of it. */
    sealed_key: bytes,
    key_prefix: text,
    key_hash: text,
    /** Time between two polls at least. */
    interval_seconds: whole,
    polled_at: whole,
    requested_at: whole,
    expires_at: whole,
  }).index('sign_ins_address', ['address_hash', 'num']),
  /** The wrong user codes of each user until a time. */
  sign_in_guesses: table({
    user_id: primary(to('users.id', { isCascading: true })),
    wrong: whole,
    until: whole,
  }),
  /** Files for a publish that has not come yet. */
  uploads: table({
    id: primary(text),
    user_id: to('users.id', { isCascading: true }),
    size: whole,
    expires_at: whole,
    // Last: what follows large bytes is slow to read.
    bytes,
  }).index('uploads_user', ['user_id', 'expires_at', 'size']),
}

import type { Schema } from './schema.ts'
import { primary, primaryTo, required, to, unique, zero } from './columns.ts'

/** Settings of the node, users, their keys and sessions, and what is known of authors. */
export async function createAccountTables(schema: Schema): Promise<void> {
  const { bytes, orderedText, whole, table, index } = schema

  await table('meta').addColumn('key', 'text', primary).addColumn('value', 'text', required).execute()

  await table('users')
    .addColumn('id', 'text', primary)
    .addColumn('username', orderedText, unique)
    .addColumn('display_name', 'text', required)
    .addColumn('plan', 'text', required)
    .addColumn('role', 'text', required)
    .addColumn('disabled', whole, zero)
    .addColumn('claimed', whole, required)
    .addColumn('created_at', whole, required)
    .execute()
  // For guests' question whether any account can sign in, among many authors without one from imports and mirrors.
  await index('users_claimed', 'users', ['claimed'])
  await index('users_disabled', 'users', ['disabled'])

  await table('avatars')
    .addColumn('user_id', 'text', primaryTo('users.id'))
    .addColumn('content_type', 'text', required)
    .addColumn('bytes', bytes, required)
    .execute()

  await table('follows')
    .addColumn('follower_id', 'text', to('users.id'))
    .addColumn('followed_id', 'text', to('users.id'))
    .addColumn('created_at', whole, required)
    .addPrimaryKeyConstraint('follows_key', ['follower_id', 'followed_id'])
    .execute()
  await index('follows_followed', 'follows', ['followed_id'])

  await table('api_keys')
    .addColumn('id', 'text', primary)
    .addColumn('user_id', 'text', to('users.id'))
    .addColumn('name', 'text', required)
    .addColumn('prefix', 'text', required)
    .addColumn('hash', 'text', unique)
    .addColumn('scopes', 'text', required)
    .addColumn('created_at', whole, required)
    .addColumn('last_used_at', whole)
    .addColumn('expires_at', whole)
    .execute()
  await index('api_keys_user', 'api_keys', ['user_id'])

  await table('sessions')
    .addColumn('id', 'text', primary)
    .addColumn('key_id', 'text', (column) => to('api_keys.id')(column).onDelete('cascade'))
    .addColumn('created_at', whole, required)
    .addColumn('expires_at', whole, required)
    .execute()
  await index('sessions_end', 'sessions', ['expires_at'])
  await index('sessions_key', 'sessions', ['key_id', 'created_at'])

  await table('verifications')
    .addColumn('id', 'text', primary)
    .addColumn('user_id', 'text', to('users.id'))
    .addColumn('method', 'text', required)
    .addColumn('proof', 'text', required)
    .addColumn('token', 'text', required)
    .addColumn('status', 'text', required)
    .addColumn('note', 'text', required)
    .addColumn('checked_at', whole)
    .addColumn('asked', whole, zero)
    .addColumn('answered', whole, zero)
    .addColumn('created_at', whole, required)
    .execute()
  await index('verifications_status', 'verifications', ['status', 'id'])
  await index('verifications_user', 'verifications', ['user_id', 'method'])

  await table('idempotent_answers')
    .addColumn('id', 'text', primary)
    .addColumn('body_hash', 'text', required)
    .addColumn('status', whole, required)
    .addColumn('body', 'text')
    .addColumn('created_at', whole, required)
    .execute()
  await index('idempotent_answers_age', 'idempotent_answers', ['created_at'])
}

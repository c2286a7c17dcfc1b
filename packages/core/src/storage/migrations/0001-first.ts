import { sql } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { runStatements, type Migration, type SchemaDb, type Types } from './migration.ts'

/** The schema of the first release. A table comes after the tables that it refers to. */
export const baseline: Migration = {
  name: '0001-first',
  async up(db, dialect) {
    await runStatements(db, dialect, accountsAndCatalogue)
    await createTextIndex(db, dialect)
    await runStatements(db, dialect, otherTables)
    if (dialect === 'postgres') await createClusterTables(db)
    await sql`insert into heads (id, change_seq, log_seq) values (1, 0, 0)`.execute(db)
  },
}

/** The full-text index of skills. It stores no text, only the index. */
async function createTextIndex(db: SchemaDb, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') {
    await sql`create table skill_text (num bigint primary key, vector tsvector not null)`.execute(db)
    await sql`create index skill_text_vector on skill_text using gin (vector)`.execute(db)
    return
  }
  // The text consists of separate tokens, so the simplest tokenizer works for every script.
  await sql`create virtual table skill_text using fts5(
    name, owner, keywords, description, headings, summary, category, body,
    content='', contentless_delete=1, tokenize='ascii'
  )`.execute(db)
  await sql`create virtual table skill_text_words using fts5vocab(skill_text, row)`.execute(db)
}

/**
 * Tables that the nodes on one PostgreSQL database share, besides the data of the registry. An SQLite file has one
 * node, which needs none of them, and exports do not contain them.
 */
async function createClusterTables(db: SchemaDb): Promise<void> {
  // Unlogged: commits do not wait for the disk, and a crash that empties the table only resets the rate limits of one
  // minute.
  await sql`create unlogged table rate_leases (
    key text primary key,
    points bigint not null,
    need bigint not null,
    share bigint not null,
    taken bigint not null,
    granted bigint not null,
    ends_at bigint not null
  )`.execute(db)
  await sql`create index rate_leases_end on rate_leases (ends_at)`.execute(db)
  // A trigger sends the notification, so that no writer can forget it. Sending takes a server-wide lock until the
  // commit ends, but transactions that append changes already wait for each other at the row of `heads`. Each
  // transaction sends only one notification.
  await sql`create function tell_changes() returns trigger language plpgsql as
    $$ begin perform pg_notify('skillstead_changes', ''); return null; end $$`.execute(db)
  await sql`create trigger tell_changes after insert on changes
    for each statement execute function tell_changes()`.execute(db)
}

/** Accounts, blobs, skills, versions and packs. */
const accountsAndCatalogue = ({ bytes, keyed, ordered, serial, strict, whole }: Types) => `
    create table "meta" ("key" text not null primary key, "value" text not null)${strict};
    create table "users" ("id" text not null primary key, "username" ${ordered} not null unique,
      "display_name" text not null, "plan" text not null, "role" text not null,
      "disabled" ${whole} default 0 not null, "claimed" ${whole} not null, "created_at" ${whole} not null)${strict};
    create index "users_claimed" on "users" ("claimed");
    create index "users_disabled" on "users" ("disabled");
    create table "avatars" ("user_id" text not null primary key references "users" ("id"),
      "content_type" text not null, "bytes" ${bytes} not null)${strict};
    create table "follows" ("follower_id" text not null references "users" ("id"),
      "followed_id" text not null references "users" ("id"), "created_at" ${whole} not null,
      constraint "follows_key" primary key ("follower_id", "followed_id"))${strict};
    create index "follows_followed" on "follows" ("followed_id");
    create table "api_keys" ("id" text not null primary key, "user_id" text not null references "users" ("id"),
      "name" text not null, "prefix" text not null, "hash" text not null unique, "scopes" text not null,
      "created_at" ${whole} not null, "last_used_at" ${whole}, "expires_at" ${whole})${strict};
    create index "api_keys_user" on "api_keys" ("user_id");
    create table "sessions" ("id" text not null primary key,
      "key_id" text not null references "api_keys" ("id") on delete cascade, "created_at" ${whole} not null,
      "expires_at" ${whole} not null)${strict};
    create index "sessions_end" on "sessions" ("expires_at");
    create index "sessions_key" on "sessions" ("key_id", "created_at");
    create table "verifications" ("id" text not null primary key,
      "user_id" text not null references "users" ("id"), "method" text not null, "proof" text not null,
      "token" text not null, "status" text not null, "note" text not null, "checked_at" ${whole},
      "asked" ${whole} default 0 not null, "answered" ${whole} default 0 not null,
      "created_at" ${whole} not null)${strict};
    create index "verifications_status" on "verifications" ("status", "id");
    create index "verifications_user" on "verifications" ("user_id", "method");
    create table "idempotent_answers" ("id" text not null primary key, "body_hash" text not null,
      "status" ${whole} not null, "body" text, "created_at" ${whole} not null)${strict};
    create index "idempotent_answers_age" on "idempotent_answers" ("created_at");
    create table "blobs" ("digest" text not null primary key, "size" ${whole} not null, "encoding" text not null,
      "bytes" ${bytes} not null)${strict};
    create table "skills" ("num" ${serial} primary key, "id" text not null unique,
      "owner_id" text not null references "users" ("id"), "owner" text not null, "name" text not null,
      "full_name" ${ordered} not null unique, "display_name" text not null, "description" text not null,
      "category" text not null, "license" text not null, "keywords" text not null, "headings" text not null,
      "summary" text not null, "visibility" text not null, "state" text not null,
      "stub" ${whole} default 0 not null, "deprecated" ${whole} default 0 not null,
      "deprecation_message" text not null, "repository" text not null, "latest_version" text not null,
      "described_by" text not null, "published_at" ${whole} not null, "created_at" ${whole} not null,
      "updated_at" ${whole} not null, "downloads" ${whole} default 0 not null, "stars" ${whole} default 0 not null,
      "forks" ${whole} default 0 not null, "security_score" ${whole}, "verified" ${whole} default 0 not null,
      "forked_from" text, "forked_from_version" text, "origin_kind" text not null, "origin_upstream" text,
      "origin_synced_at" ${whole}, "revision" ${whole} not null, "portable" ${whole} default 0 not null,
      "credited_stars" ${whole} default 0 not null, "credited_reviews" ${whole} default 0 not null,
      "credited_points" ${whole} default 0 not null, "agent_installs" ${whole} default 0 not null,
      "moderation" text default 'shown' not null, "moderation_reason" text default '' not null,
      "moderated_at" ${whole}, "source_state" text default 'live' not null,
      "metadata_scan" text default '' not null, "holds_name" ${whole} default 0 not null)${strict};
    create index "skills_category" on "skills" ("category", "downloads" desc, "id");
    create index "skills_downloads" on "skills" ("downloads" desc, "id");
    create index "skills_forked_from" on "skills" ("forked_from");
    create index "skills_moderated" on "skills" ("moderated_at") where moderation <> 'shown';
    create index "skills_name" on "skills" ("name");
    create index "skills_owner" on "skills" ("owner_id", "name");
    create table "skill_documents" ("skill_id" text not null primary key references "skills" ("id"),
      "revision" ${whole} not null, "updated_at" ${whole} not null, "document" text not null)${strict};
    create table "holders" ("name" text not null primary key,
      "skill_id" text not null references "skills" ("id"))${strict};
    create table "aliases" ("full_name" text not null primary key,
      "skill_id" text not null references "skills" ("id"), "created_at" ${whole} not null)${strict};
    create index "aliases_skill" on "aliases" ("skill_id");
    create table "versions" ("id" text not null primary key, "skill_id" text not null references "skills" ("id"),
      "version" text not null, "sort_key" text not null, "digest" text not null, "size" ${whole} not null,
      "changelog" text not null, "portable" ${whole} not null, "yanked" ${whole} default 0 not null,
      "published_at" ${whole} not null, "publisher_id" text not null, "publisher" text not null,
      "metadata" text not null, constraint "versions_sort_key" unique ("skill_id", "sort_key"))${strict};
    create index "versions_digest" on "versions" ("digest");
    create table "version_files" ("version_id" text not null references "versions" ("id"), "path" text not null,
      "digest" text not null, "size" ${whole} not null, constraint "version_files_key" primary key ("version_id",
      "path"))${strict};
    create index "version_files_digest" on "version_files" ("digest");
    create table "version_access" ("version_id" text not null primary key references "versions" ("id"),
      "access" text not null)${strict};
    create table "version_terms" ("version_id" text not null primary key references "versions" ("id"),
      "terms" ${bytes} not null)${strict};
    create table "version_sketches" ("num" ${serial} primary key,
      "version_id" text not null unique references "versions" ("id"), "shingles" ${whole} not null)${strict};
    create table "shared_shingles" ("shingle" ${whole} not null, "skill_num" ${whole} not null,
      "sketch_num" ${whole} not null, constraint "shared_shingles_key" primary key ("shingle",
      "skill_num"))${keyed};
    create table "waiting_sketches" ("sketch_num" ${whole} not null, "skill_num" ${whole} not null,
      "shingles" ${bytes} not null, constraint "waiting_sketches_key" primary key ("sketch_num"))${keyed};
    create table "collaborators" ("skill_id" text not null references "skills" ("id"),
      "user_id" text not null references "users" ("id"), "role" text not null,
      constraint "collaborators_key" primary key ("skill_id", "user_id"))${strict};
    create table "invitations" ("skill_id" text not null references "skills" ("id"),
      "user_id" text not null references "users" ("id"), "role" text not null, "created_at" ${whole} not null,
      constraint "invitations_key" primary key ("skill_id", "user_id"))${strict};
    create index "invitations_user" on "invitations" ("user_id");
    create table "shares" ("id" text not null primary key, "skill_id" text not null references "skills" ("id"),
      "token_hash" text not null unique, "created_at" ${whole} not null, "expires_at" ${whole} not null)${strict};
    create index "shares_skill" on "shares" ("skill_id");
    create table "transfers" ("skill_id" text not null primary key references "skills" ("id"),
      "new_owner_id" text not null references "users" ("id"), "created_at" ${whole} not null)${strict};
    create table "stars" ("skill_id" text not null references "skills" ("id"),
      "user_id" text not null references "users" ("id"), "created_at" ${whole} not null,
      constraint "stars_key" primary key ("skill_id", "user_id"))${strict};
    create index "stars_user" on "stars" ("user_id", "created_at");
    create table "packs" ("id" text not null primary key, "slug" ${ordered} not null unique, "name" text not null,
      "description" text not null, "curator_id" text not null references "users" ("id"), "curator" text not null,
      "visibility" text not null, "state" text not null, "created_at" ${whole} not null,
      "updated_at" ${whole} not null, "origin_upstream" text)${strict};
    create table "pack_skills" ("pack_id" text not null references "packs" ("id"), "position" ${whole} not null,
      "skill_id" text not null references "skills" ("id"), "pinned_version" text, "note" text not null,
      constraint "pack_skills_key" primary key ("pack_id", "position"))${strict};
    create index "pack_skills_skill" on "pack_skills" ("skill_id")`

/** The log, the community, uses, governance and webhooks. */
const otherTables = ({ bytes, fraction, keyed, noBytes, ordered, strict, whole }: Types) => `
    create table "heads" ("id" ${whole} not null primary key, "change_seq" ${whole} not null,
      "log_seq" ${whole} not null, "frontier" ${bytes} default ${noBytes} not null)${strict};
    create table "changes" ("seq" ${whole} not null primary key, "kind" text not null, "subject" text not null,
      "at" ${whole} not null, "name_before" text default '' not null, "readers_before" text default '' not null,
      "version" text default '' not null)${strict};
    create table "log" ("seq" ${whole} not null primary key, "hash" ${bytes} not null, "type" text not null,
      "at" ${whole} not null, "subject" text not null, "digest" text, "entry" text not null)${strict};
    create index "log_subject" on "log" ("subject");
    create table "tree_tiles" ("level" ${whole} not null, "n" ${whole} not null, "root" ${bytes} not null,
      "middle" ${bytes} not null, "hashes" ${bytes} not null, constraint "tree_tiles_key" primary key ("level",
      "n"))${strict};
    create table "signing_keys" ("number" ${whole} not null primary key, "public_key" ${bytes} not null,
      "private_key" ${bytes}, "created_at" ${whole} not null, "retires_at" ${whole})${keyed};
    create table "audit" ("id" text not null primary key, "at" ${whole} not null, "actor_id" text, "actor" text,
      "action" text not null, "subject" text not null, "data" text not null)${strict};
    create table "outbox" ("id" text not null primary key, "topic" text not null, "unique_key" text unique,
      "partition" ${ordered} not null, "host" text not null, "payload" text not null, "state" text not null,
      "due_at" ${whole} not null, "claimable_at" ${whole} not null, "lease" text,
      "attempts" ${whole} default 0 not null, "attempt_log" text not null, "created_at" ${whole} not null)${strict};
    create index "outbox_due" on "outbox" ("claimable_at") where state = 'pending';
    create index "outbox_ended" on "outbox" ("state", "due_at") where state <> 'pending';
    create index "outbox_history" on "outbox" ("partition", "id");
    create index "outbox_partitions" on "outbox" ("partition", "due_at") where state = 'pending';
    create table "agents" ("id" text not null primary key, "agent_key" ${ordered} not null unique,
      "display_name" text not null, "platform_id" text not null, "token_hash" text not null unique,
      "user_id" text references "users" ("id"), "authenticated" ${whole} default 0 not null,
      "trust_score" ${whole} default 0 not null, "review_count" ${whole} default 0 not null,
      "authenticated_review_count" ${whole} default 0 not null, "helpful_count" ${whole} default 0 not null,
      "published_count" ${whole} default 0 not null, "install_count" ${whole} default 0 not null,
      "registered_at" ${whole} not null, "last_seen_at" ${whole} not null)${strict};
    create index "agents_last_seen_at" on "agents" ("last_seen_at" desc, "agent_key");
    create index "agents_platform" on "agents" ("platform_id", "trust_score" desc, "agent_key");
    create index "agents_published_count" on "agents" ("published_count" desc, "agent_key");
    create index "agents_review_count" on "agents" ("review_count" desc, "agent_key");
    create index "agents_trust_score" on "agents" ("trust_score" desc, "agent_key");
    create index "agents_user" on "agents" ("user_id");
    create table "agent_activity" ("id" text not null primary key,
      "agent_id" text not null references "agents" ("id"), "at" ${whole} not null, "type" text not null,
      "skill_id" text references "skills" ("id"), "detail" text not null)${strict};
    create index "agent_activity_agent" on "agent_activity" ("agent_id", "id");
    create table "agent_skills" ("agent_id" text not null references "agents" ("id"),
      "skill_id" text not null references "skills" ("id"), "version" text not null,
      "installed_at" ${whole} not null, "counted" ${whole} not null,
      constraint "agent_skills_key" primary key ("agent_id", "skill_id"))${strict};
    create index "agent_skills_counted" on "agent_skills" ("skill_id", "counted");
    create table "agent_reviews" ("id" text not null primary key,
      "skill_id" text not null references "skills" ("id"), "agent_id" text not null references "agents" ("id"),
      "content" text not null, "authenticated" ${whole} not null, "reviewer_id" text references "users" ("id"),
      "helpful_count" ${whole} default 0 not null, "version" text not null, "created_at" ${whole} not null,
      "updated_at" ${whole} not null, "rating" ${fraction} default 0 not null,
      constraint "agent_reviews_once" unique ("skill_id", "agent_id"))${strict};
    create index "agent_reviews_agent" on "agent_reviews" ("agent_id");
    create index "agent_reviews_helpful" on "agent_reviews" ("skill_id", "helpful_count" desc, "id" desc);
    create index "agent_reviews_rating" on "agent_reviews" ("skill_id", "rating" desc, "helpful_count" desc,
      "id" desc);
    create index "agent_reviews_recent" on "agent_reviews" ("skill_id", "updated_at" desc, "id" desc);
    create index "agent_reviews_reviewer" on "agent_reviews" ("skill_id", "reviewer_id");
    create table "agent_review_votes" ("review_id" text not null references "agent_reviews" ("id"),
      "agent_key" text not null, "user_id" text references "users" ("id"), "created_at" ${whole} not null,
      constraint "agent_review_votes_key" primary key ("review_id", "agent_key"))${strict};
    create table "reviews" ("id" text not null primary key, "skill_id" text not null references "skills" ("id"),
      "user_id" text not null references "users" ("id"), "rating" ${whole} not null, "title" text not null,
      "body" text not null, "created_at" ${whole} not null, "updated_at" ${whole} not null,
      constraint "reviews_once" unique ("skill_id", "user_id"))${strict};
    create table "issues" ("id" text not null primary key, "skill_id" text not null references "skills" ("id"),
      "user_id" text not null references "users" ("id"), "type" text not null, "title" text not null,
      "body" text not null, "created_at" ${whole} not null)${strict};
    create index "issues_skill" on "issues" ("skill_id", "id");
    create table "requests" ("id" text not null primary key, "title" text not null, "description" text not null,
      "status" text not null, "votes" ${whole} default 0 not null, "requester_id" text references "users" ("id"),
      "fulfilled_by" text references "skills" ("id"), "created_at" ${whole} not null,
      "updated_at" ${whole} not null)${strict};
    create index "requests_votes" on "requests" ("votes" desc, "id" desc);
    create table "request_votes" ("request_id" text not null references "requests" ("id"),
      "user_id" text not null references "users" ("id"), "created_at" ${whole} not null,
      constraint "request_votes_key" primary key ("request_id", "user_id"))${strict};
    create index "request_votes_user" on "request_votes" ("user_id", "created_at");
    create table "standings" ("user_id" text not null primary key references "users" ("id"),
      "skills" ${whole} default 0 not null, "portable_skills" ${whole} default 0 not null,
      "described_skills" ${whole} default 0 not null, "downloads" ${whole} default 0 not null,
      "stars" ${whole} default 0 not null, "reviews" ${whole} default 0 not null,
      "review_points" ${whole} default 0 not null, "flagged_skills" ${whole} default 0 not null,
      "hidden_skills" ${whole} default 0 not null, "taken_down_skills" ${whole} default 0 not null,
      "score" ${whole} default 0 not null, "username" ${ordered} not null, "verified" text not null,
      "computed_at" ${whole} not null)${strict};
    create index "standings_score" on "standings" ("score" desc, "username", "user_id");
    create table "badges" ("user_id" text not null references "users" ("id"), "badge" text not null,
      "since" ${whole} not null, constraint "badges_key" primary key ("user_id", "badge"))${strict};
    create table "install_journal" ("id" text not null primary key, "counts" text not null)${strict};
    create table "install_hours" ("skill_id" text not null references "skills" ("id"), "hour" ${whole} not null,
      "installs" ${whole} default 0 not null, constraint "install_hours_key" primary key ("hour",
      "skill_id"))${keyed};
    create table "install_days" ("skill_id" text not null references "skills" ("id"), "day" ${whole} not null,
      "installs" ${whole} default 0 not null, constraint "install_days_key" primary key ("day",
      "skill_id"))${keyed};
    create table "download_days" ("skill_id" text not null references "skills" ("id"), "day" ${whole} not null,
      "downloads" ${whole} default 0 not null, constraint "download_days_key" primary key ("day",
      "skill_id"))${keyed};
    create table "trends" ("period" text not null, "skill_id" text not null references "skills" ("id"),
      "installs" ${whole} default 0 not null, "previous" ${whole} default 0 not null,
      "score" ${whole} default 0 not null, constraint "trends_key" primary key ("period", "skill_id"))${keyed};
    create index "trends_score" on "trends" ("period", "score" desc, "skill_id");
    create table "embeddings" ("model" text not null, "digest" text not null, "vector" ${bytes} not null,
      "stored_at" ${whole} not null, constraint "embeddings_key" primary key ("model", "digest"))${keyed};
    create table "external_skills" ("id" text not null primary key, "registry" text not null,
      "name" ${ordered} not null, "url" text not null unique, "repo_url" text not null,
      "description" text not null, "author" text not null, "installs" ${whole} default 0 not null,
      "security_score" ${whole}, "verdict" text, "scanned_at" ${whole}, "indexed_at" ${whole} not null)${strict};
    create index "external_skills_installs" on "external_skills" ("installs" desc, "name", "id");
    create index "external_skills_name" on "external_skills" ("name");
    create index "external_skills_registry" on "external_skills" ("registry", "installs" desc, "name", "id");
    create index "external_skills_registry_verdict" on "external_skills" ("registry", "verdict", "installs" desc,
      "name", "id");
    create index "external_skills_repository" on "external_skills" ("repo_url", "name");
    create index "external_skills_verdict" on "external_skills" ("verdict", "installs" desc, "name", "id");
    create table "scans" ("version_id" text not null primary key references "versions" ("id"),
      "skill_id" text not null references "skills" ("id"), "score" ${whole} not null, "verdict" text not null,
      "risk" text not null, "rules_version" text not null, "scanned_at" ${whole} not null,
      "report" text not null)${keyed};
    create index "scans_rules" on "scans" ("rules_version");
    create table "quarantine_items" ("id" text not null primary key,
      "owner_id" text not null references "users" ("id"), "publisher_id" text not null references "users" ("id"),
      "full_name" text not null, "version" text not null, "digest" text not null, "scan" text not null,
      "publication" text not null, "agent_id" text references "agents" ("id"), "created_at" ${whole} not null,
      constraint "quarantine_items_content" unique ("full_name", "digest"))${strict};
    create index "quarantine_items_owner" on "quarantine_items" ("owner_id", "id");
    create table "quarantine_files" ("quarantine_id" text not null references "quarantine_items" ("id") on delete cascade,
      "path" text not null, "size" ${whole} not null, "digest" text not null, "encoding" text not null,
      "bytes" ${bytes} not null, constraint "quarantine_files_key" primary key ("quarantine_id", "path"))${strict};
    create table "quarantined_versions" ("version_id" text not null primary key references "versions" ("id"),
      "quarantined_at" ${whole} not null)${keyed};
    create table "reports" ("id" text not null primary key, "kind" text not null,
      "skill_id" text not null references "skills" ("id"), "reason" text not null, "details" text not null,
      "reporter_id" text references "users" ("id"), "status" text not null, "note" text not null,
      "created_at" ${whole} not null, "decided_at" ${whole})${strict};
    create index "reports_skill" on "reports" ("skill_id", "kind");
    create index "reports_status" on "reports" ("status", "id");
    create table "copy_reports" ("id" text not null primary key,
      "skill_id" text not null references "skills" ("id"),
      "original_skill_id" text not null references "skills" ("id"),
      "reporter_id" text not null references "users" ("id"), "status" text not null,
      "similarity" ${fraction} not null, "evidence" text not null, "note" text not null,
      "created_at" ${whole} not null)${strict};
    create index "copy_reports_skill" on "copy_reports" ("skill_id", "reporter_id");
    create index "copy_reports_status" on "copy_reports" ("status", "id");
    create table "dmca_cases" ("id" text not null primary key, "skill_id" text not null references "skills" ("id"),
      "status" text not null, "notice" text not null, "token_hash" text not null unique,
      "counter_notice_until" ${whole}, "submitted_at" ${whole} not null)${strict};
    create index "dmca_cases_skill" on "dmca_cases" ("skill_id", "status");
    create index "dmca_cases_status" on "dmca_cases" ("status", "id");
    create table "dmca_counter_notices" ("id" text not null primary key,
      "case_id" text not null references "dmca_cases" ("id"), "notice" text not null,
      "confirmed" ${whole} not null, "sent_at" ${whole} not null)${strict};
    create index "dmca_counter_notices_case" on "dmca_counter_notices" ("case_id", "id");
    create table "dmca_history" ("id" text not null primary key,
      "case_id" text not null references "dmca_cases" ("id"), "status" text not null, "at" ${whole} not null,
      "note" text not null)${strict};
    create index "dmca_history_case" on "dmca_history" ("case_id", "id");
    create table "webhooks" ("id" text not null primary key, "user_id" text not null references "users" ("id"),
      "url" text not null, "events" text not null, "skills" text, "secret" text not null, "previous_secret" text,
      "previous_until" ${whole}, "active" ${whole} not null, "failed_run" ${whole} default 0 not null,
      "created_at" ${whole} not null, "updated_at" ${whole} not null)${strict};
    create index "webhooks_user" on "webhooks" ("user_id", "id");
    create table "webhook_subscriptions" ("event" text not null, "user_id" text not null references "users" ("id"),
      "webhook_id" text not null references "webhooks" ("id") on delete cascade,
      constraint "webhook_subscriptions_key" primary key ("event", "user_id", "webhook_id"))${keyed};
    create index "webhook_subscriptions_webhook" on "webhook_subscriptions" ("webhook_id")`

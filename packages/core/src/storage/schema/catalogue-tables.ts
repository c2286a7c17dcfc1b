import {
  bytes,
  keyedTable,
  oneOf,
  optional,
  orderedText,
  primary,
  serial,
  startsAs,
  table,
  text,
  to,
  unique,
  whole,
  zero,
} from './columns.ts'

/** Blobs, skills, versions and packs. */
export const catalogueTables = {
  blobs: table({
    digest: primary(text),
    size: whole,
    encoding: oneOf<'identity' | 'deflate-raw'>(),
    bytes,
  }),
  skills: table({
    num: serial,
    id: unique(text),
    owner_id: to('users.id'),
    owner: text,
    name: text,
    full_name: unique(orderedText),
    display_name: text,
    description: text,
    category: text,
    license: text,
    keywords: text,
    headings: text,
    summary: text,
    visibility: oneOf<'public' | 'internal' | 'private'>(),
    /** Administrators decide on `hidden` and `taken_down`; lists contain only `live` skills. */
    state: oneOf<'live' | 'withdrawn' | 'hidden' | 'taken_down'>(),
    stub: zero,
    deprecated: zero,
    deprecation_message: text,
    repository: text,
    /** Empty if every version is yanked. */
    latest_version: text,
    /** The version whose metadata the skill shows. Settings of the owner apply until another version is the latest. */
    described_by: text,
    published_at: whole,
    created_at: whole,
    updated_at: whole,
    downloads: zero,
    stars: zero,
    forks: zero,
    security_score: optional(whole),
    verified: zero,
    forked_from: optional(text),
    forked_from_version: optional(text),
    origin_kind: oneOf<'local' | 'import' | 'mirror' | 'external'>(),
    origin_upstream: optional(text),
    origin_synced_at: optional(whole),
    /** Sequence number of the skill's last change: with the counters it identifies the public document (ETag). */
    revision: whole,
    /** Whether the latest version is portable. */
    portable: zero,
    /** Stars and reviews by users other than the owner, which count for the owner's reputation. */
    credited_stars: zero,
    credited_reviews: zero,
    /** Thousandths of points from reviews, as `review_points` of `standings`. */
    credited_points: zero,
    /** Number of agents that reported with their tokens that they installed the skill, without agents of its owner. */
    agent_installs: zero,
    /** The decision of an administrator, apart from takedowns, and the reason that the owner sees. */
    moderation: startsAs('shown', oneOf<'shown' | 'flagged' | 'hidden'>()),
    moderation_reason: startsAs('', text),
    moderated_at: optional(whole),
    /** The state of a mirrored skill at its upstream. Decisions of this node apply in addition. */
    source_state: startsAs('live', oneOf<'live' | 'withdrawn' | 'taken_down'>()),
    /** Findings of the scan in the metadata, not in the content: JSON. Empty if there is no version. */
    metadata_scan: startsAs('', text),
    /** 1 if the skill's short name refers to this skill, as in `holders`. */
    holds_name: zero,
  })
    .index('skills_category', ['category', 'downloads desc', 'id'])
    .index('skills_downloads', ['downloads desc', 'id'])
    .index('skills_forked_from', ['forked_from'])
    .index('skills_moderated', ['moderated_at'], "moderation <> 'shown'")
    .index('skills_name', ['name'])
    .index('skills_owner', ['owner_id', 'name']),
  // Separate from the skill's counters, which change often: a narrow row costs a fifth as much to write.
  skill_documents: table({
    skill_id: primary(to('skills.id')),
    /** `revision` and `updated_at` of the skill when the document was created. */
    revision: whole,
    updated_at: whole,
    /** The public document as JSON, without the counters, which are inserted when it is read. */
    document: text,
  }),
  /** The skill that a short name refers to. */
  holders: table({
    name: primary(text),
    skill_id: to('skills.id'),
  }),
  /** Full names that skills had before a transfer. */
  aliases: table({
    full_name: primary(text),
    skill_id: to('skills.id'),
    created_at: whole,
  }).index('aliases_skill', ['skill_id']),
  versions: table({
    id: primary(text),
    skill_id: to('skills.id'),
    version: text,
    sort_key: text,
    digest: text,
    size: whole,
    changelog: text,
    portable: whole,
    yanked: zero,
    published_at: whole,
    publisher_id: text,
    publisher: text,
    /** Metadata of the version's SKILL.md as JSON. The skill shows it while the version is the latest. */
    metadata: text,
  })
    .unique('versions_sort_key', ['skill_id', 'sort_key'])
    .index('versions_digest', ['digest']),
  version_files: table({
    version_id: to('versions.id'),
    path: text,
    digest: text,
    size: whole,
  })
    .key(['version_id', 'path'])
    .index('version_files_digest', ['digest']),
  /** The capabilities that a version uses, as far as its text shows. */
  version_access: table({
    version_id: primary(to('versions.id')),
    /** Lists of capabilities as JSON. */
    access: text,
  }),
  /** The terms of a version's SKILL.md for the search by need: see `toContentVector`. */
  version_terms: table({
    version_id: primary(to('versions.id')),
    terms: bytes,
  }),
  /** Numbers of versions, in the order of arrival; `shingles` is the size of the sketch, 0 for a short text. */
  version_sketches: table({
    num: serial,
    version_id: unique(to('versions.id')),
    shingles: whole,
  }),
  /** The skills that have a shingle in any version, and the number of the first version that had it. */
  shared_shingles: keyedTable({
    shingle: whole,
    skill_num: whole,
    sketch_num: whole,
  }).key(['shingle', 'skill_num']),
  /** Versions whose shingles are not in `shared_shingles` yet. */
  waiting_sketches: keyedTable({
    sketch_num: whole,
    skill_num: whole,
    shingles: bytes,
  }).key(['sketch_num']),
  collaborators: table({
    skill_id: to('skills.id'),
    user_id: to('users.id'),
    role: oneOf<'read' | 'write'>(),
  }).key(['skill_id', 'user_id']),
  /** Invitations to collaborate that were not accepted yet. */
  invitations: table({
    skill_id: to('skills.id'),
    user_id: to('users.id'),
    role: oneOf<'read' | 'write'>(),
    created_at: whole,
  })
    .key(['skill_id', 'user_id'])
    .index('invitations_user', ['user_id']),
  /** Links that give read access to a skill. */
  shares: table({
    id: primary(text),
    skill_id: to('skills.id'),
    /** SHA-256 of the token, which is shown once. */
    token_hash: unique(text),
    created_at: whole,
    expires_at: whole,
  }).index('shares_skill', ['skill_id']),
  transfers: table({
    skill_id: primary(to('skills.id')),
    new_owner_id: to('users.id'),
    created_at: whole,
  }),
  stars: table({
    skill_id: to('skills.id'),
    user_id: to('users.id'),
    created_at: whole,
  })
    .key(['skill_id', 'user_id'])
    .index('stars_user', ['user_id', 'created_at']),
  packs: table({
    id: primary(text),
    /** As `toStoredSlug` returns it. */
    slug: unique(orderedText),
    name: text,
    description: text,
    curator_id: to('users.id'),
    curator: text,
    visibility: oneOf<'public' | 'internal' | 'private'>(),
    state: oneOf<'live' | 'withdrawn'>(),
    created_at: whole,
    updated_at: whole,
    /** The upstream of a mirrored pack; null for a local pack. */
    origin_upstream: optional(text),
  }),
  pack_skills: table({
    pack_id: to('packs.id'),
    position: whole,
    skill_id: to('skills.id'),
    pinned_version: optional(text),
    note: text,
  })
    .key(['pack_id', 'position'])
    .index('pack_skills_skill', ['skill_id']),
}

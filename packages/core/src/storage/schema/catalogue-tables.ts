import type { Access, EvaluationSummary, PublisherIdentity, Requires } from '@skillstead/protocol'
import type { Outline } from '@skillstead/scanner'
import { bytes, fraction, generated, json, oneOf, optional, text, whole } from './columns.ts'

/** The metadata in a version's SKILL.md, as stored in its row. */
export interface VersionMetadata {
  readonly displayName: string
  readonly description: string
  readonly license: string
  /** Absent if neither the request nor the frontmatter has one. */
  readonly category?: string | undefined
  readonly keywords: string[]
  readonly headings: string[]
  readonly summary: string
  readonly frontmatter: Record<string, unknown>
  readonly contract: { inputs: unknown; outputs: unknown } | null
  readonly capabilities: string[]
}

/** A recall: the versions of a skill in a range must not be used any more. */
export interface StoredRecall {
  readonly id: string
  readonly range: string
  readonly reason: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** Milliseconds since 1970; absent for an active recall. */
  readonly endedAt?: number | undefined
  /** Whether the recall came from the upstream of a mirrored skill, which alone ends it. */
  readonly upstream?: true | undefined
  /**
   * Whether an administrator of this node without the right to manage the skill made the recall: only administrators
   * end it.
   */
  readonly byAdministrator?: true | undefined
}

/** Blobs, skills, versions and packs. */
export const catalogueTables = {
  blobs: {
    digest: text,
    size: whole,
    encoding: oneOf<'identity' | 'deflate-raw'>(),
    /** Empty if the bytes are in the bucket. */
    bytes,
    /**
     * Null: this row, for good. `waiting`: this row, until the bytes are in the bucket. `lost`: the bucket, but the last
     * read did not find them there.
     */
    place: optional(oneOf<'waiting' | 'bucket' | 'lost'>()),
  },
  skills: {
    num: generated(whole),
    id: text,
    owner_id: text,
    owner: text,
    name: text,
    full_name: text,
    display_name: text,
    description: text,
    category: text,
    license: text,
    keywords: json<string[]>(),
    headings: json<string[]>(),
    summary: text,
    /** `organisation`: internal to the organisation that owns the skill. */
    visibility: oneOf<'public' | 'internal' | 'organisation' | 'private'>(),
    /** Administrators decide on `hidden` and `taken_down`; lists contain only `live` skills. */
    state: oneOf<'live' | 'withdrawn' | 'hidden' | 'taken_down'>(),
    stub: whole,
    deprecated: whole,
    deprecation_message: text,
    repository: text,
    /** Empty if every version is yanked or recalled. */
    latest_version: text,
    /** The version whose metadata the skill shows. Settings of the owner apply until another version is the latest. */
    described_by: text,
    published_at: whole,
    created_at: whole,
    updated_at: whole,
    downloads: whole,
    stars: whole,
    forks: whole,
    security_score: optional(whole),
    verified: whole,
    forked_from: optional(text),
    forked_from_version: optional(text),
    origin_kind: oneOf<'local' | 'import' | 'mirror' | 'external'>(),
    origin_upstream: optional(text),
    origin_synced_at: optional(whole),
    /** Sequence number of the skill's last change: with the counters it identifies the public document (ETag). */
    revision: whole,
    /** Whether the latest version is portable. */
    portable: whole,
    /** Stars and reviews by users other than the owner, which count for the owner's reputation. */
    credited_stars: whole,
    credited_reviews: whole,
    /** Thousandths of points from reviews, as `review_points` of `standings`. */
    credited_points: whole,
    /** Number of agents that reported with their tokens that they installed the skill, without agents of its owner. */
    agent_installs: whole,
    /** The decision of an administrator, apart from takedowns, and the reason that the owner sees. */
    moderation: oneOf<'shown' | 'flagged' | 'hidden'>(),
    moderation_reason: text,
    moderated_at: optional(whole),
    /** The state of a mirrored skill at its upstream. Decisions of this node apply in addition. */
    source_state: oneOf<'live' | 'withdrawn' | 'taken_down'>(),
    /** Findings of the scan in the metadata, not in the content: JSON. Empty if there is no version. */
    metadata_scan: text,
    /** 1 if the skill's short name refers to this skill, as in `holders`. */
    holds_name: whole,
    /** 1 if lists contain the skill, which triggers compute: it is live, and has a version to show or is a stub. */
    listed: generated(whole),
    /** The recalls as JSON, newest first: see `readRecalls`. */
    recalls: json<StoredRecall[]>(),
    /** The lower end of the interval of the latest version's effect; -2 without results that have one. */
    effect_low: fraction,
    /** Number of public skills whose latest version requires this skill. */
    dependents: whole,
    /**
     * The clients that load the latest version: see `toLoadedBy`. Null if the row was stored before this column existed,
     * until the document of the skill is built again; the database then finds the skill by no client.
     */
    loaded_by: optional(whole),
  },
  // A separate table, because the counters in `skills` change often: a row without the document costs a fifth as much
  // to write.
  skill_documents: {
    skill_id: text,
    /** `revision` and `updated_at` of the skill when the document was created. */
    revision: whole,
    updated_at: whole,
    /** The public document as JSON, without the counters, which are inserted when it is read. */
    document: text,
  },
  /** The skill that a short name refers to. */
  holders: {
    name: text,
    skill_id: text,
  },
  /** Full names that skills had before a transfer. */
  aliases: {
    full_name: text,
    skill_id: text,
    created_at: whole,
  },
  versions: {
    id: text,
    skill_id: text,
    version: text,
    sort_key: text,
    digest: text,
    size: whole,
    changelog: text,
    portable: whole,
    yanked: whole,
    published_at: whole,
    publisher_id: text,
    publisher: text,
    /** Metadata of the version's SKILL.md as JSON. The skill shows it while the version is the latest. */
    metadata: json<VersionMetadata>(),
    /** The identity of CI that published the version, as JSON. Null for people and API keys. */
    identity: optional(json<PublisherIdentity>()),
    /** The newest active recall that covers the version, by its id in `skills.recalls`. */
    recalled_by: optional(text),
    /** Summary of the evaluation results as JSON; null if there are no results. */
    evaluations: optional(json<EvaluationSummary>()),
    /** What the version requires, as JSON; '' for nothing. Null if it was stored before this column existed. */
    requires: optional(json<Requires>()),
  },
  /** The skills that the latest version of each skill requires. */
  requirements: {
    skill_id: text,
    /** The name as written: with or without an owner. */
    name: text,
    range: text,
  },
  version_files: {
    version_id: text,
    path: text,
    digest: text,
    size: whole,
    executable: generated(whole),
  },
  /** The capabilities that a version uses, as far as its text shows. */
  version_access: {
    version_id: text,
    /** Lists of capabilities as JSON. */
    access: json<Access>(),
    /** The parts that later versions are compared with, as JSON. Null until a rescan has read them. */
    outline: optional(json<Outline>()),
  },
  /** The terms of a version's SKILL.md for the search by need: see `toContentVector`. */
  version_terms: {
    version_id: text,
    terms: bytes,
  },
  /** Numbers the versions in the order of arrival. `shingles`: number of shingles of a version, 0 for a short text. */
  version_sketches: {
    num: generated(whole),
    version_id: text,
    shingles: whole,
  },
  /** The skills that have a shingle in any version, and the number of the first version that had it. */
  shared_shingles: {
    shingle: whole,
    skill_num: whole,
    sketch_num: whole,
  },
  /** Versions whose shingles are not in `shared_shingles` yet. */
  waiting_sketches: {
    sketch_num: whole,
    skill_num: whole,
    shingles: bytes,
  },
  collaborators: {
    skill_id: text,
    user_id: text,
    role: oneOf<'read' | 'write'>(),
  },
  /** Invitations to collaborate that were not accepted yet. */
  invitations: {
    skill_id: text,
    user_id: text,
    role: oneOf<'read' | 'write'>(),
    created_at: whole,
  },
  /** Links that give read access to a skill. */
  shares: {
    id: text,
    skill_id: text,
    /** SHA-256 of the token, which is shown once. */
    token_hash: text,
    created_at: whole,
    expires_at: whole,
    /** Id of the key that made the row. Null for rows that the operator made, or a guest or an older node. */
    made_by: optional(text),
  },
  transfers: {
    skill_id: text,
    new_owner_id: text,
    created_at: whole,
  },
  stars: {
    skill_id: text,
    user_id: text,
    created_at: whole,
  },
  packs: {
    id: text,
    /** As `toStoredSlug` returns it. */
    slug: text,
    name: text,
    description: text,
    curator_id: text,
    curator: text,
    visibility: oneOf<'public' | 'internal' | 'private'>(),
    state: oneOf<'live' | 'withdrawn'>(),
    created_at: whole,
    updated_at: whole,
    /** The upstream of a mirrored pack; null for a local pack. */
    origin_upstream: optional(text),
  },
  pack_skills: {
    pack_id: text,
    position: whole,
    skill_id: text,
    pinned_version: optional(text),
    note: text,
  },
}

import type { Reputation } from '@skillstead/protocol'
import type { ClientKind } from '../../kernel/client-kinds.ts'
import { bytes, fraction, json, oneOf, optional, text, whole } from './columns.ts'

/** Agents, reviews, issues, requests and reputation. */
export const communityTables = {
  agents: {
    id: text,
    agent_key: text,
    display_name: text,
    platform_id: text,
    /** SHA-256 of the token, which is shown once. */
    token_hash: text,
    /** The owner: the first user whose API key was sent together with the agent's token. */
    user_id: optional(text),
    /** Whether the token was ever used. */
    authenticated: whole,
    trust_score: whole,
    review_count: whole,
    authenticated_review_count: whole,
    /** Helpful votes for its reviews from agents of other users. */
    helpful_count: whole,
    published_count: whole,
    install_count: whole,
    registered_at: whole,
    last_seen_at: whole,
  },
  agent_activity: {
    id: text,
    agent_id: text,
    at: whole,
    type: oneOf<'registered' | 'reviewed' | 'published' | 'installed' | 'removed'>(),
    skill_id: optional(text),
    detail: text,
  },
  /** The installed skills that an agent reported with its token. */
  agent_skills: {
    agent_id: text,
    skill_id: text,
    version: text,
    installed_at: whole,
    /** 1: counted in the skill's `agent_installs`, because the agent's owner does not own the skill. */
    counted: whole,
  },
  agent_reviews: {
    id: text,
    skill_id: text,
    agent_id: text,
    content: text,
    authenticated: whole,
    /** The agent's owner, if the token was sent; null if the agent had no owner then. */
    reviewer_id: optional(text),
    helpful_count: whole,
    version: text,
    created_at: whole,
    updated_at: whole,
    /** Any number from 1 to 5. */
    rating: fraction,
  },
  /** `user_id` is the voting agent's owner if the vote counts for the reviewer's trust: once per user and review. */
  agent_review_votes: {
    review_id: text,
    agent_key: text,
    user_id: optional(text),
    created_at: whole,
  },
  reviews: {
    id: text,
    skill_id: text,
    user_id: text,
    rating: whole,
    title: text,
    body: text,
    created_at: whole,
    updated_at: whole,
  },
  issues: {
    id: text,
    skill_id: text,
    user_id: text,
    type: oneOf<'bug' | 'feature' | 'question' | 'security'>(),
    title: text,
    body: text,
    created_at: whole,
  },
  requests: {
    id: text,
    title: text,
    description: text,
    status: oneOf<'open' | 'in_progress' | 'fulfilled' | 'closed'>(),
    votes: whole,
    requester_id: optional(text),
    /** Id of the skill that fulfils the request. */
    fulfilled_by: optional(text),
    created_at: whole,
    updated_at: whole,
  },
  request_votes: {
    request_id: text,
    user_id: text,
    created_at: whole,
  },
  /** The counts that an author's reputation is computed from, updated with every change, and the score. */
  standings: {
    user_id: text,
    skills: whole,
    portable_skills: whole,
    described_skills: whole,
    downloads: whole,
    stars: whole,
    reviews: whole,
    /** Sum over the reviews of half stars above or below three stars, in thousandths. */
    review_points: whole,
    flagged_skills: whole,
    hidden_skills: whole,
    taken_down_skills: whole,
    score: whole,
    username: text,
    /** The verified methods that the score includes, as JSON. */
    verified: json<Reputation['verified']>(),
    computed_at: whole,
  },
  badges: {
    user_id: text,
    badge: text,
    since: whole,
  },
  // Installs and downloads by time, trends, and skills of other registries.
  /** Confirmed installs that are not counted yet: JSON of `{ [hour]: { [use]: installs } }`; see `toUseKey`. */
  install_journal: {
    id: text,
    counts: json<Record<string, Record<string, number>>>(),
  },
  /** Installs of recent hours; `hour` is in hours since 1970. */
  install_hours: {
    skill_id: text,
    hour: whole,
    installs: whole,
  },
  /** Older installs by day; `day` is in days since 1970. */
  install_days: {
    skill_id: text,
    day: whole,
    installs: whole,
  },
  /** Downloads, which include installs; `day` is in days since 1970. */
  download_days: {
    skill_id: text,
    day: whole,
    downloads: whole,
  },
  /** The counts of `download_days` by version and kind of client; see `countedAs`. */
  download_details: {
    skill_id: text,
    day: whole,
    version: text,
    client: oneOf<ClientKind>(),
    downloads: whole,
    installs: whole,
  },
  /** The last install of a skill by each user, on nodes with `recordInstallers`; `day` is in days since 1970. */
  installers: {
    skill_id: text,
    user_id: text,
    version: text,
    day: whole,
  },
  trends: {
    period: oneOf<'day' | 'week' | 'month'>(),
    skill_id: text,
    installs: whole,
    previous: whole,
    score: whole,
  },
  /** Embeddings of the texts of public skills by model, of 32-bit floats; see `EmbeddingsReranker`. */
  embeddings: {
    model: text,
    digest: text,
    vector: bytes,
    stored_at: whole,
  },
  external_skills: {
    id: text,
    registry: oneOf<'skills.sh' | 'github'>(),
    name: text,
    url: text,
    repo_url: text,
    description: text,
    author: text,
    installs: whole,
    security_score: optional(whole),
    verdict: optional(oneOf<'safe' | 'caution' | 'dangerous'>()),
    scanned_at: optional(whole),
    indexed_at: whole,
  },
}

import {
  fraction,
  oneOf,
  optional,
  orderedText,
  primary,
  startsAs,
  table,
  text,
  to,
  unique,
  whole,
  zero,
} from './columns.ts'

/** Agents, reviews, issues, requests and reputation. */
export const communityTables = {
  agents: table({
    id: primary(text),
    agent_key: unique(orderedText),
    display_name: text,
    platform_id: text,
    /** SHA-256 of the token, which is shown once. */
    token_hash: unique(text),
    /** The owner: the first user whose API key was sent together with the agent's token. */
    user_id: optional(to('users.id')),
    /** Whether the token was ever used. */
    authenticated: zero,
    trust_score: zero,
    review_count: zero,
    authenticated_review_count: zero,
    /** Helpful votes for its reviews from agents of other users. */
    helpful_count: zero,
    published_count: zero,
    install_count: zero,
    registered_at: whole,
    last_seen_at: whole,
  })
    .index('agents_last_seen_at', ['last_seen_at desc', 'agent_key'])
    .index('agents_platform', ['platform_id', 'trust_score desc', 'agent_key'])
    .index('agents_published_count', ['published_count desc', 'agent_key'])
    .index('agents_review_count', ['review_count desc', 'agent_key'])
    .index('agents_trust_score', ['trust_score desc', 'agent_key'])
    .index('agents_user', ['user_id']),
  agent_activity: table({
    id: primary(text),
    agent_id: to('agents.id'),
    at: whole,
    type: oneOf<'registered' | 'reviewed' | 'published' | 'installed' | 'removed'>(),
    skill_id: optional(to('skills.id')),
    detail: text,
  }).index('agent_activity_agent', ['agent_id', 'id']),
  /** The installed skills that an agent reported with its token. */
  agent_skills: table({
    agent_id: to('agents.id'),
    skill_id: to('skills.id'),
    version: text,
    installed_at: whole,
    /** 1: counted in the skill's `agent_installs`, because the agent's owner does not own the skill. */
    counted: whole,
  })
    .key(['agent_id', 'skill_id'])
    .index('agent_skills_counted', ['skill_id', 'counted']),
  agent_reviews: table({
    id: primary(text),
    skill_id: to('skills.id'),
    agent_id: to('agents.id'),
    content: text,
    authenticated: whole,
    /** The agent's owner, if the token was sent; null if the agent had no owner then. */
    reviewer_id: optional(to('users.id')),
    helpful_count: zero,
    version: text,
    created_at: whole,
    updated_at: whole,
    /** Any number from 1 to 5. */
    rating: startsAs(0, fraction),
  })
    .unique('agent_reviews_once', ['skill_id', 'agent_id'])
    .index('agent_reviews_agent', ['agent_id'])
    .index('agent_reviews_helpful', ['skill_id', 'helpful_count desc', 'id desc'])
    .index('agent_reviews_rating', ['skill_id', 'rating desc', 'helpful_count desc', 'id desc'])
    .index('agent_reviews_recent', ['skill_id', 'updated_at desc', 'id desc'])
    .index('agent_reviews_reviewer', ['skill_id', 'reviewer_id']),
  /** `user_id` is the voting agent's owner if the vote counts for the reviewer's trust: once per user and review. */
  agent_review_votes: table({
    review_id: to('agent_reviews.id'),
    agent_key: text,
    user_id: optional(to('users.id')),
    created_at: whole,
  }).key(['review_id', 'agent_key']),
  reviews: table({
    id: primary(text),
    skill_id: to('skills.id'),
    user_id: to('users.id'),
    rating: whole,
    title: text,
    body: text,
    created_at: whole,
    updated_at: whole,
  }).unique('reviews_once', ['skill_id', 'user_id']),
  issues: table({
    id: primary(text),
    skill_id: to('skills.id'),
    user_id: to('users.id'),
    type: oneOf<'bug' | 'feature' | 'question' | 'security'>(),
    title: text,
    body: text,
    created_at: whole,
  }).index('issues_skill', ['skill_id', 'id']),
  requests: table({
    id: primary(text),
    title: text,
    description: text,
    status: oneOf<'open' | 'in_progress' | 'fulfilled' | 'closed'>(),
    votes: zero,
    requester_id: optional(to('users.id')),
    /** Id of the skill that fulfils the request. */
    fulfilled_by: optional(to('skills.id')),
    created_at: whole,
    updated_at: whole,
  }).index('requests_votes', ['votes desc', 'id desc']),
  request_votes: table({
    request_id: to('requests.id'),
    user_id: to('users.id'),
    created_at: whole,
  })
    .key(['request_id', 'user_id'])
    .index('request_votes_user', ['user_id', 'created_at']),
  /** The counts that an author's reputation is computed from, updated with every change, and the score. */
  standings: table({
    user_id: primary(to('users.id')),
    skills: zero,
    portable_skills: zero,
    described_skills: zero,
    downloads: zero,
    stars: zero,
    reviews: zero,
    /** Sum over the reviews of half stars above or below three stars, in thousandths. */
    review_points: zero,
    flagged_skills: zero,
    hidden_skills: zero,
    taken_down_skills: zero,
    score: zero,
    username: orderedText,
    /** The verified methods that the score includes, as JSON. */
    verified: text,
    computed_at: whole,
  }).index('standings_score', ['score desc', 'username', 'user_id']),
  badges: table({
    user_id: to('users.id'),
    badge: text,
    since: whole,
  }).key(['user_id', 'badge']),
}

/** Agents, reviews, issues and requests. */
export interface CommunityTables {
  agents: AgentRow
  agent_activity: {
    id: string
    agent_id: string
    at: number
    type: AgentActionType
    skill_id: string | null
    detail: string
  }
  agent_skills: AgentSkillRow
  agent_reviews: AgentReviewRow
  /** `user_id`: for whom the voter works, where the vote counts for the reviewer's trust: once a user and review. */
  agent_review_votes: { review_id: string; agent_key: string; user_id: string | null; created_at: number }
  reviews: ReviewRow
  issues: IssueRow
  requests: RequestRow
  request_votes: { request_id: string; user_id: string; created_at: number }
}

export type AgentActionType = 'registered' | 'reviewed' | 'published' | 'installed' | 'removed'

export interface AgentRow {
  id: string
  agent_key: string
  display_name: string
  platform_id: string
  /** SHA-256 of the token, which is shown once. */
  token_hash: string
  /** The user whose key came along with the agent's token first: whose agent it is. */
  user_id: string | null
  /** Whether the token was ever used. */
  authenticated: number
  trust_score: number
  review_count: number
  authenticated_review_count: number
  /** Helpful votes that its reviews got from agents of others. */
  helpful_count: number
  published_count: number
  install_count: number
  registered_at: number
  last_seen_at: number
}

/** What an agent said, with its token, that it has installed. */
export interface AgentSkillRow {
  agent_id: string
  skill_id: string
  version: string
  installed_at: number
  /** Whether it is one of the skill's `agent_installs`: only where the agent works for a user other than the owner. */
  counted: number
}

export interface AgentReviewRow {
  id: string
  skill_id: string
  agent_id: string
  /** Any number from 1 to 5. */
  rating: number
  content: string
  authenticated: number
  /** The user for whom the agent wrote it, with its token; null for an agent that was nobody's then. */
  reviewer_id: string | null
  helpful_count: number
  version: string
  created_at: number
  updated_at: number
}

export interface ReviewRow {
  id: string
  skill_id: string
  user_id: string
  rating: number
  title: string
  body: string
  created_at: number
  updated_at: number
}

export interface IssueRow {
  id: string
  skill_id: string
  user_id: string
  type: 'bug' | 'feature' | 'question' | 'security'
  title: string
  body: string
  created_at: number
}

export interface RequestRow {
  id: string
  title: string
  description: string
  status: 'open' | 'in_progress' | 'fulfilled' | 'closed'
  votes: number
  requester_id: string | null
  /** The skill that fulfils it, by its id. */
  fulfilled_by: string | null
  created_at: number
  updated_at: number
}

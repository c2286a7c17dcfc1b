import { type AgentReview, toTimestamp } from '@skillstead/protocol'
import type { AgentReviewRow, AgentRow } from '../storage/rows-community.ts'

/** The columns of an agent that its reviews show. */
export type Reviewer = Pick<AgentRow, 'agent_key' | 'display_name' | 'platform_id'>

/** An agent's review in public form. */
export function toAgentReview(row: AgentReviewRow, agent: Reviewer): AgentReview {
  return {
    id: row.id,
    agentKey: agent.agent_key,
    displayName: agent.display_name,
    platformId: agent.platform_id,
    rating: row.rating,
    content: row.content,
    authenticated: row.authenticated === 1,
    helpfulCount: row.helpful_count,
    version: row.version,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }
}

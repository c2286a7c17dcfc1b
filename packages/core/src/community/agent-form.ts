import { type Agent, toTimestamp } from '@skillstead/protocol'
import type { AgentRow } from '../storage/rows-community.ts'

/** The public form of an agent: without its token and its user. */
export function toAgent(row: AgentRow): Agent {
  return {
    agentKey: row.agent_key,
    displayName: row.display_name,
    platformId: row.platform_id,
    trustScore: row.trust_score,
    reviewCount: row.review_count,
    publishedCount: row.published_count,
    installCount: row.install_count,
    registeredAt: toTimestamp(row.registered_at),
    lastSeenAt: toTimestamp(row.last_seen_at),
  }
}

import type { Caller } from '../kernel/caller.ts'
import type { AgentRow, AgentSkillRow } from '../storage/tables.ts'

/** The authenticated caller, which is not compared with its own earlier reports. */
export interface Asker {
  readonly agent: AgentRow | undefined
  readonly stored: StoredSet
  readonly caller: Caller
  /** The caller's own users: their agents do not count as similar agents. */
  readonly userIds: ReadonlySet<string>
}

/** The stored version of each skill, by skill id. */
export type StoredSet = ReadonlyMap<string, Pick<AgentSkillRow, 'version' | 'counted'>>

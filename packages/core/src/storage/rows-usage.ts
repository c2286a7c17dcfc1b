/** Installs by the hour, what trends, and skills of other registries. */
export interface UsageTables {
  /** Installs that are answered and not yet counted: JSON of `{ [hour]: { [use]: installs } }`; see `toUseKey`. */
  install_journal: { id: string; counts: string }
  /** Whole hours since 1970. */
  install_hours: { skill_id: string; hour: number; installs: number }
  /** What is older than any period needs, rolled up. */
  install_days: { skill_id: string; day: number; installs: number }
  /** Downloads, installs among them, by the whole day since 1970. */
  download_days: { skill_id: string; day: number; downloads: number }
  trends: TrendRow
  external_skills: ExternalSkillRow
}

export interface TrendRow {
  period: 'day' | 'week' | 'month'
  skill_id: string
  installs: number
  previous: number
  score: number
}

export interface ExternalSkillRow {
  id: string
  registry: 'skills.sh' | 'github'
  name: string
  url: string
  repo_url: string
  description: string
  author: string
  installs: number
  security_score: number | null
  verdict: 'safe' | 'caution' | 'dangerous' | null
  scanned_at: number | null
  indexed_at: number
}

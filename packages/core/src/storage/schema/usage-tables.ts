import {
  bytes,
  keyedTable,
  oneOf,
  optional,
  orderedText,
  primary,
  table,
  text,
  to,
  unique,
  whole,
  zero,
} from './columns.ts'

/** Installs and downloads by time, trends, and skills of other registries. */
export const usageTables = {
  /** Confirmed installs that are not counted yet: JSON of `{ [hour]: { [use]: installs } }`; see `toUseKey`. */
  install_journal: table({
    id: primary(text),
    counts: text,
  }),
  /** Installs of recent hours; `hour` is in hours since 1970. */
  install_hours: keyedTable({
    skill_id: to('skills.id'),
    hour: whole,
    installs: zero,
  }).key(['hour', 'skill_id']),
  /** Older installs by day; `day` is in days since 1970. */
  install_days: keyedTable({
    skill_id: to('skills.id'),
    day: whole,
    installs: zero,
  }).key(['day', 'skill_id']),
  /** Downloads, which include installs; `day` is in days since 1970. */
  download_days: keyedTable({
    skill_id: to('skills.id'),
    day: whole,
    downloads: zero,
  }).key(['day', 'skill_id']),
  trends: keyedTable({
    period: oneOf<'day' | 'week' | 'month'>(),
    skill_id: to('skills.id'),
    installs: zero,
    previous: zero,
    score: zero,
  })
    .key(['period', 'skill_id'])
    .index('trends_score', ['period', 'score desc', 'skill_id']),
  /** Embeddings of the texts of public skills by model, of 32-bit floats; see `createEmbeddingsReranker`. */
  embeddings: keyedTable({
    model: text,
    digest: text,
    vector: bytes,
    stored_at: whole,
  }).key(['model', 'digest']),
  external_skills: table({
    id: primary(text),
    registry: oneOf<'skills.sh' | 'github'>(),
    name: orderedText,
    url: unique(text),
    repo_url: text,
    description: text,
    author: text,
    installs: zero,
    security_score: optional(whole),
    verdict: optional(oneOf<'safe' | 'caution' | 'dangerous'>()),
    scanned_at: optional(whole),
    indexed_at: whole,
  })
    .index('external_skills_installs', ['installs desc', 'name', 'id'])
    .index('external_skills_name', ['name'])
    .index('external_skills_registry', ['registry', 'installs desc', 'name', 'id'])
    .index('external_skills_registry_verdict', ['registry', 'verdict', 'installs desc', 'name', 'id'])
    .index('external_skills_repository', ['repo_url', 'name'])
    .index('external_skills_verdict', ['verdict', 'installs desc', 'name', 'id']),
}

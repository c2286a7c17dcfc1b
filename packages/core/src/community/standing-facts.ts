import { toRecord } from '@skillstead/protocol'
import { isListedToAll } from '../visibility/decisions.ts'
import type { SkillRow } from '../storage/tables.ts'

/** The inputs of an author's reputation, as columns of `standings`: sums over the author's skills. */
export const factNames = [
  ...(['skills', 'portable_skills', 'described_skills', 'downloads', 'stars', 'reviews', 'review_points'] as const),
  ...(['flagged_skills', 'hidden_skills', 'taken_down_skills'] as const),
] as const

export type Facts = Readonly<Record<(typeof factNames)[number], number>>

/** The minimum length of a description that counts as descriptive. */
export const descriptionCharactersMin = 40

/** The facts of an author without public skills. */
export const noFacts: Facts = toRecord(factNames, () => 0)

/** The columns of a skill from which its contribution to its owner's reputation is computed. */
export const ratedColumns = [
  ...(['num', 'id', 'owner_id', 'visibility', 'state', 'stub', 'latest_version', 'portable', 'moderation'] as const),
  ...(['description', 'license', 'category', 'downloads'] as const),
  ...(['credited_stars', 'credited_reviews', 'credited_points'] as const),
] as const

export type RatedSkill = Pick<SkillRow, (typeof ratedColumns)[number]>

/** What one skill contributes to its owner's reputation. A skill that is not public contributes nothing. */
export function toFacts(skill: RatedSkill): Facts {
  if (skill.visibility !== 'public' || skill.stub === 1) return noFacts
  if (skill.state === 'hidden') return { ...noFacts, hidden_skills: 1 }
  if (skill.state === 'taken_down') return { ...noFacts, taken_down_skills: 1 }
  if (!isListedToAll(skill)) return noFacts
  return {
    ...noFacts,
    skills: 1,
    portable_skills: skill.portable,
    described_skills: Number(isDescribed(skill)),
    downloads: skill.downloads,
    stars: skill.credited_stars,
    reviews: skill.credited_reviews,
    review_points: skill.credited_points,
    flagged_skills: Number(skill.moderation === 'flagged'),
  }
}

function isDescribed({ description, license, category }: RatedSkill): boolean {
  return description.trim().length >= descriptionCharactersMin && license !== '' && category !== ''
}

export function addFacts(one: Facts, other: Facts): Facts {
  return toRecord(factNames, (name) => one[name] + other[name])
}

export function subtractFacts(one: Facts, other: Facts): Facts {
  return toRecord(factNames, (name) => one[name] - other[name])
}

/** Whether all facts are 0; for a difference, whether nothing changed. */
export function areNoFacts(facts: Facts): boolean {
  return factNames.every((name) => facts[name] === 0)
}

/** The facts of a row, without its other columns. */
export function pickFacts(row: Facts): Facts {
  return toRecord(factNames, (name) => row[name])
}

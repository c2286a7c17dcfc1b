import { keysOf, type Reputation } from '@skillstead/protocol'
import type { ProofMethod } from '../accounts/verification-form.ts'
import { toQuiet } from '../storage/compiled-query.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { Facts } from './standing-facts.ts'

interface Badge {
  readonly id: string
  readonly title: string
  isEarned(facts: Facts, methods: readonly ProofMethod[]): boolean
}

/** All badges in display order. A badge is removed when its condition no longer holds. */
export const badges: readonly Badge[] = [
  { id: 'verified', title: 'Verified author', isEarned: (_facts, methods) => methods.length > 0 },
  { id: 'published', title: 'First public skill', isEarned: ({ skills }) => skills >= 1 },
  { id: 'prolific', title: 'Ten public skills', isEarned: ({ skills }) => skills >= 10 },
  { id: 'popular', title: 'Ten thousand downloads', isEarned: ({ downloads }) => downloads >= 10_000 },
  { id: 'starred', title: 'A hundred stars', isEarned: ({ stars }) => stars >= 100 },
  {
    id: 'well-reviewed',
    title: 'Ten reviews of four stars on average',
    // Four stars are two half stars above three.
    isEarned: ({ reviews, review_points }) => reviews >= 10 && review_points >= 2 * pointUnits * reviews,
  },
  {
    id: 'portable',
    title: 'Five skills, all portable',
    isEarned: ({ skills, portable_skills }) => skills >= 5 && portable_skills === skills,
  },
  {
    id: 'described',
    title: 'Five skills, all well described',
    isEarned: ({ skills, described_skills }) => skills >= 5 && described_skills === skills,
  },
]

/** The ids of the badges earned by facts and verification methods. */
export function toBadges({ facts, verified }: { facts: Facts; verified: readonly ProofMethod[] }): string[] {
  return badges.filter((badge) => badge.isEarned(facts, verified)).map(({ id }) => id)
}

/** Adds new badges of a user and removes badges that are no longer earned. Runs no query if nothing changed. */
export async function settleBadges(
  trx: WriteTransaction,
  userId: string,
  { current, earned, at }: { current: readonly string[]; earned: readonly string[]; at: number },
): Promise<void> {
  const gone = current.filter((badge) => !earned.includes(badge))
  const rows = earned
    .filter((badge) => !current.includes(badge))
    .map((badge) => ({ user_id: userId, badge, since: at }))
  if (gone.length > 0) await trx.deleteFrom('badges').where('user_id', '=', userId).where('badge', 'in', gone).execute()
  if (rows.length === 0) return
  const insert = trx.insertInto('badges').values(rows)
  await trx.executeQuery(toQuiet(insert.onConflict((conflict) => conflict.doNothing()).compile()))
}

/** Review points are stored in thousandths: sums of integers are exact in any order. */
export const pointUnits = 1000

/**
 * The complete formula; a test keeps it equal to docs/reputation.md. Values that grow with use approach `most` and
 * never exceed it; half of it is reached at `halfAt`. So no number of downloads, which anyone can generate, outweighs
 * the ratings of thirty people with accounts. The maxima without the penalties add up to 1000.
 */
export const formula = {
  downloads: { most: 150, halfAt: 2000 },
  stars: { most: 250, halfAt: 20 },
  /**
   * `halfAt` is in review points: a rating adds one point for each half star above three and subtracts one for each
   * half star below; fractions count.
   */
  reviews: { most: 250, halfAt: 20 },
  verification: { most: 150, each: { github: 50, domain: 70, manual: 80 } },
  /** Points for the share of skills that are portable, or well described; fewer points if the author has few skills. */
  quality: { portable: { most: 100, halfAt: 4 }, described: { most: 100, halfAt: 4 } },
  penalties: { most: 1000, each: { flagged_skills: 30, hidden_skills: 60, taken_down_skills: 120 } },
} as const

export const scoreMax = 1000

/** The levels with their minimum scores, highest first. */
export const levels = [
  { level: 'exemplary', from: 750 },
  { level: 'trusted', from: 450 },
  { level: 'established', from: 200 },
  { level: 'contributor', from: 50 },
  { level: 'newcomer', from: 0 },
] as const

/** The components of a score: integers, at least 0 except the penalties, which are at most 0. */
export function toComponents(facts: Facts, methods: readonly ProofMethod[]): Reputation['components'] {
  const { portable, described } = formula.quality
  return {
    downloads: toSaturatedPoints(facts.downloads, formula.downloads),
    stars: toSaturatedPoints(facts.stars, formula.stars),
    reviews: toSaturatedPoints(facts.review_points / pointUnits, formula.reviews),
    verification: sumPoints(formula.verification, (method) => Number(methods.includes(method))),
    quality:
      toQualityPoints(facts.portable_skills, facts, portable) +
      toQualityPoints(facts.described_skills, facts, described),
    penalties: 0 - sumPoints(formula.penalties, (name) => facts[name]),
  }
}

/** The sum of the components, limited to 0 to 1000. */
export function toReputationScore(facts: Facts, methods: readonly ProofMethod[]): number {
  const sum = Object.values(toComponents(facts, methods)).reduce((total, points) => total + points, 0)
  return Math.min(scoreMax, Math.max(0, sum))
}

export function toLevel(score: number): (typeof levels)[number]['level'] {
  return levels.find(({ from }) => score >= from)!.level
}

interface Curve {
  readonly most: number
  readonly halfAt: number
}

function toSaturatedPoints(amount: number, { most, halfAt }: Curve): number {
  const counted = Math.max(0, amount)
  return Math.round((most * counted) / (counted + halfAt))
}

/**
 * Points for the share of skills with a property: `such` of the author's `skills` have it. If all have it, the result
 * is that of {@link toSaturatedPoints}; otherwise it is multiplied by the share.
 */
function toQualityPoints(such: number, { skills }: Facts, { most, halfAt }: Curve): number {
  return Math.round((most * such) / (skills + halfAt))
}

function sumPoints<Name extends string>(
  { most, each }: { readonly most: number; readonly each: Readonly<Record<Name, number>> },
  count: (name: Name) => number,
): number {
  const sum = keysOf(each).reduce((total, name) => total + each[name] * count(name), 0)
  return Math.min(most, sum)
}

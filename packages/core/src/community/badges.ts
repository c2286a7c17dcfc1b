import type { WriteTransaction } from '../storage/writer.ts'
import type { Facts } from './author-facts.ts'
import type { VerifiedMethod } from '../accounts/verified-methods.ts'
import { pointUnits } from './reputation-formula.ts'

interface Badge {
  readonly id: string
  readonly title: string
  isEarned(facts: Facts, methods: readonly VerifiedMethod[]): boolean
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
export function toBadges(facts: Facts, methods: readonly VerifiedMethod[]): string[] {
  return badges.filter((badge) => badge.isEarned(facts, methods)).map(({ id }) => id)
}

/** Adds new badges of a user and removes those that are no longer earned; runs no query if nothing changed. */
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
  await trx
    .insertInto('badges')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

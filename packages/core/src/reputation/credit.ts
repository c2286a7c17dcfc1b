import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** What others than its owner did for a skill, as differences. */
export interface Credit {
  readonly downloads?: number
  readonly stars?: number
  /** How many reviews, and the sum of their half stars above or below three stars. */
  readonly reviews?: number
  readonly points?: number
}

/**
 * Credits a skill, and its owner while the skill counts, with what others did. Whoever calls leaves out what owners and
 * their own agents do for themselves. `downloads` is only passed on to the owner; the skill's own count is written apart.
 */
export async function creditSkill(trx: WriteTransaction, skillId: string, credit: Credit, at: number): Promise<void> {
  void [trx, skillId, credit, at]
}

/** What a change of a skill (published, hidden, handed over, ...) means for the standing of its owner, or owners. */
export async function changeStanding(
  trx: WriteTransaction,
  before: SkillRow | undefined,
  after: SkillRow,
  at: number,
): Promise<void> {
  void [trx, before, after, at]
}

/** Counts anew what others did for a skill: where its owner changed, or an agent turns out to be its owner's. */
export async function recreditSkill(trx: WriteTransaction, skillId: string, at: number): Promise<void> {
  void [trx, skillId, at]
}

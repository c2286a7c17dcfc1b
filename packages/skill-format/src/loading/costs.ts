import type { LoadedSkill } from '@skillstead/protocol'
import { listContent, type Group, type Left, type Unit } from './units.ts'

/** The sizes of a skill's parts in tokens. Each part is counted once, on first use. */
export interface Costs {
  /** Tokens of a single unit. */
  ofUnit(unit: Unit): number
  ofHeading(group: Group): number
  /** Tokens of a whole group. */
  ofGroup(group: Group): number
  /** Tokens of omitted text; an estimate for long text. */
  ofLeft(left: Left): number
  /** Estimated tokens of a number of characters of the document. */
  about(characters: number): number
  /** Tokens of all content that the budget limits. */
  ofContent(loaded: LoadedSkill): number
}

/**
 * Omitted text is counted exactly up to this length, so that the time for a small budget does not grow with the
 * document.
 */
const countedCharactersMax = 16 * 1024

/** `content` is a sample for estimating tokens from numbers of characters. */
export function createCosts(content: string, countTokens: (text: string) => number): Costs {
  // Most texts have about one token per four bytes.
  const sample = content.slice(0, countedCharactersMax)
  const tokensPerCharacter = new TextEncoder().encode(sample).length / Math.max(1, sample.length) / 4
  const about = (characters: number) => Math.ceil(characters * tokensPerCharacter)
  const counted = new Map<Unit | Group, number>()
  const headings = new Map<Group, number>()

  const ofText = (text: string) => (text === '' ? 0 : countTokens(text))
  const ofUnit = (unit: Unit) => countOnce(counted, unit, () => ofText(unit.text))
  const ofGroup = (group: Group) =>
    countOnce(counted, group, () => ofText(group.heading + group.units.map(({ text }) => text).join('')))
  const ofHeading = (group: Group) => countOnce(headings, group, () => ofText(group.heading))

  return {
    ofUnit,
    ofGroup,
    ofHeading,
    ofLeft({ characters, group, kept: keptUnits }) {
      if (!group || characters > countedCharactersMax) return about(characters)
      if (keptUnits.length === 0) return ofGroup(group)
      const all = ofGroup(group) - ofHeading(group)
      // Adjacent texts may need fewer tokens together than apart.
      return Math.max(
        1,
        keptUnits.reduce((left, unit) => left - ofUnit(unit), all),
      )
    },
    about,
    ofContent: (loaded) => listContent(loaded).reduce((sum, text) => sum + ofText(text), 0),
  }
}

function countOnce<Key>(costs: Map<Key, number>, key: Key, count: () => number): number {
  const known = costs.get(key)
  if (known !== undefined) return known
  const cost = count()
  costs.set(key, cost)
  return cost
}

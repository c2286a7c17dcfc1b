import type { LoadedSkill } from '@skillstead/protocol'
import type { Left } from './omissions.ts'
import { listContent, type Group, type Unit } from './units.ts'

/** What the parts of a skill cost in tokens, each counted once, when somebody asks. */
export interface Costs {
  /** A unit by itself. */
  ofUnit(unit: Unit): number
  ofHeading(group: Group): number
  /** All of a group. */
  ofGroup(group: Group): number
  /** What is left out; about so many where it is long. */
  ofLeft(left: Left): number
  /** The tokens of so many characters of the document, about. */
  about(characters: number): number
  /** All that a budget bounds. */
  ofContent(loaded: LoadedSkill): number
}

/** What is left out is counted up to here, so that the time that a small budget takes does not grow with the document. */
const countedCharactersMax = 16 * 1024

/** `content` is of the kind that numbers of characters are about. */
export function createCosts(content: string, countTokens: (text: string) => number): Costs {
  // Most texts have a token in four bytes.
  const sample = content.slice(0, countedCharactersMax)
  const tokensPerCharacter = new TextEncoder().encode(sample).length / Math.max(1, sample.length) / 4
  const about = (characters: number) => Math.ceil(characters * tokensPerCharacter)
  const kept = new Map<Unit | Group, number>()
  const headings = new Map<Group, number>()

  const ofText = (text: string) => (text === '' ? 0 : countTokens(text))
  const ofUnit = (unit: Unit) => keep(kept, unit, () => ofText(unit.text))
  const ofGroup = (group: Group) =>
    keep(kept, group, () => ofText(group.heading + group.units.map(({ text }) => text).join('')))
  const ofHeading = (group: Group) => keep(headings, group, () => ofText(group.heading))

  return {
    ofUnit,
    ofGroup,
    ofHeading,
    ofLeft({ characters, group, kept: keptUnits }) {
      if (!group || characters > countedCharactersMax) return about(characters)
      if (keptUnits.length === 0) return ofGroup(group)
      const all = ofGroup(group) - ofHeading(group)
      // Side by side texts may take fewer tokens than one by one.
      return Math.max(
        1,
        keptUnits.reduce((left, unit) => left - ofUnit(unit), all),
      )
    },
    about,
    ofContent: (loaded) => listContent(loaded).reduce((sum, text) => sum + ofText(text), 0),
  }
}

function keep<Key>(costs: Map<Key, number>, key: Key, count: () => number): number {
  const known = costs.get(key)
  if (known !== undefined) return known
  const cost = count()
  costs.set(key, cost)
  return cost
}

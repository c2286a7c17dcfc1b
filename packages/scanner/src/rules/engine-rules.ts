import type { RuleHead } from './load-rules.ts'
import { checkedByEngine } from './rule-table.ts'

const names = [
  ...(['tagCharacters', 'zeroWidthRun', 'bidiControl', 'padding', 'disguisedExecutable', 'executableFile'] as const),
  ...(['disguisedFile', 'encryptedArchive', 'bytecodeWithoutSource', 'programInDocument', 'gitFolder'] as const),
  ...(['toolsUndeclared', 'toolsUnused', 'incompleteScan'] as const),
]
export type EngineRuleName = (typeof names)[number]

const toId = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Rules that the engine checks itself, by the form of texts and bytes instead of patterns. */
export const engineRules = Object.fromEntries(
  names.map((name) => [name, checkedByEngine.find(({ id }) => id === toId(name))!]),
) as Readonly<Record<EngineRuleName, RuleHead>>

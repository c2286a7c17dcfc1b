import { createHash } from 'node:crypto'
import { builtInDocuments } from '../../packages/scanner/src/rules/built-in.ts'
import { builtInParts } from '../../packages/scanner/src/rules/rule-table.ts'

/** What a rule about prose found when it was last measured, by source. */
export interface ProseRecord {
  readonly id: string
  readonly digest: string
  readonly true: Readonly<Record<string, number>>
  readonly false: Readonly<Record<string, number>>
  /** Of the real skills of the corpus. */
  readonly real: number
}

/** Written by `pnpm bench scan --security FILE --corpus DIR --ablation`. */
export const proseRecordUrl = new URL('../fixtures/prose-rules.json', import.meta.url)

const all = builtInDocuments.flatMap(({ rules = [], facts = [] }) => [...rules, ...facts])

/** The id of the rule, or the ids of what it combines. */
export function listProbes(id: string): readonly string[] {
  const found = all.find((each) => each.id === id)!
  return 'combination' in found ? found.combination.all.flat() : [id]
}

/** Identifies what a rule matches: its patterns, with the parts that they name. */
export function toProseDigest(id: string): string {
  const probes = listProbes(id).map((each) => all.find((found) => found.id === each)!)
  const patterns = probes.flatMap((probe) => ('patterns' in probe ? probe.patterns : []))
  const text = JSON.stringify([patterns, listParts(JSON.stringify(patterns), new Set())])
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

function listParts(text: string, seen: Set<string>): unknown[] {
  return [...text.matchAll(/\{([a-z][a-z0-9-]*)\}/g)].flatMap(({ 1: name }) => {
    const part = builtInParts[name!]
    if (part === undefined || seen.has(name!)) return []
    seen.add(name!)
    return [name, part, ...listParts(JSON.stringify(part), seen)]
  })
}

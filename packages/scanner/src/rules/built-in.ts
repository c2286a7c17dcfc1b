import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { BuiltInDocument } from './rule-document.ts'

const folder = new URL('data/', import.meta.url)
const usualSeverities = { hostile: 'critical', suspicious: 'high', power: 'low' } as const

/** The files of built-in rules, by name. The build of a package replaces this module by the content of these files. */
export const builtInDocuments: readonly BuiltInDocument[] = readdirSync(folder)
  .toSorted()
  .map((name) => toBuiltInDocument(parse(readFileSync(new URL(name, folder), 'utf8'))))

/** A file leaves out what a bundle must have: fields in its `defaults`, usual severities, and lists of one item. */
interface RulesFile {
  readonly defaults?: Partial<FileRule>
  readonly facts?: readonly { readonly patterns: unknown }[]
  readonly rules?: readonly FileRule[]
}

interface FileRule {
  readonly signal: keyof typeof usualSeverities
  readonly references: readonly string[]
  readonly patterns?: unknown
  readonly hit?: unknown
  readonly miss?: unknown
}

function toBuiltInDocument({ defaults, facts, rules, ...others }: RulesFile): BuiltInDocument {
  const document = {
    ...others,
    facts: facts?.map((fact) => ({ ...fact, patterns: [fact.patterns].flat() })),
    rules: rules?.map((rule) => {
      const { patterns, hit, miss, ...head } = { ...defaults, ...rule }
      return {
        severity: usualSeverities[head.signal],
        ...head,
        references: head.references.map(toReferenceUrl),
        ...(patterns !== undefined && { patterns: [patterns].flat() }),
        ...(hit !== undefined && { examples: { hit: [hit].flat(), miss: [miss].flat() } }),
      }
    }),
  }
  return document as BuiltInDocument
}

/** The URL of a technique of MITRE ATT&CK (`T1546.004`) or ATLAS (`AML.T0051`), or of a weakness (`CWE-94`). */
function toReferenceUrl(reference: string): string {
  return reference
    .replace(/^CWE-(\d+)$/, 'https://cwe.mitre.org/data/definitions/$1.html')
    .replace(/^AML\.T\d+$/, 'https://atlas.mitre.org/techniques/$&')
    .replace(/^TA\d+$/, 'https://attack.mitre.org/tactics/$&/')
    .replace(/^T\d+(?:\.\d+)?$/, (id) => `https://attack.mitre.org/techniques/${id.replace('.', '/')}/`)
}

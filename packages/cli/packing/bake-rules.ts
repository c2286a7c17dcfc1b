import type { Plugin } from 'rolldown'
import { builtInDocuments } from '../../scanner/src/rules/built-in.ts'
import { listBuiltInTraits } from '../../scanner/src/rules/list-traits.ts'

/** Replaces modules that read or compute something from all rules by modules that have the result. */
export function bakeRules(): Plugin {
  const baked: Readonly<Record<string, () => string>> = {
    'scanner/src/rules/list-traits.ts': () =>
      `export const listBuiltInTraits = () => ${toParseExpression(listBuiltInTraits())}`,
    'scanner/src/rules/built-in.ts': () =>
      `export const builtInDocuments = ${toParseExpression(builtInDocuments.map(withoutExamples))}`,
  }
  return {
    name: 'bake-rules',
    load(id) {
      const path = Object.keys(baked).find((each) => id.endsWith(each))
      return path === undefined ? null : baked[path]!()
    },
  }
}

/** An expression for data: JSON is parsed several times faster than a literal. */
function toParseExpression(data: unknown): string {
  return `JSON.parse(${JSON.stringify(JSON.stringify(data))})`
}

/** Only tests use the examples of built-in rules. */
function withoutExamples({ rules = [], ...document }: (typeof builtInDocuments)[number]) {
  return { ...document, rules: rules.map(({ ...rule }) => ({ ...rule, examples: undefined })) }
}

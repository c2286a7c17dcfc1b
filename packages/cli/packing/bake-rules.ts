import type { Plugin } from 'rolldown'
import { builtInDocuments } from '../../scanner/src/rules/built-in.ts'
import { listBuiltInTraits } from '../../scanner/src/rules/list-traits.ts'

/** Replaces modules that read or compute something from all scan rules by modules that contain the result. */
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

/** A JavaScript expression for data: `JSON.parse` is several times faster than a literal. */
function toParseExpression(data: unknown): string {
  return `JSON.parse(${JSON.stringify(JSON.stringify(data))})`
}

/** A rule document without the examples of its rules, which only tests use. */
function withoutExamples({ rules = [], ...document }: (typeof builtInDocuments)[number]) {
  return { ...document, rules: rules.map(({ ...rule }) => ({ ...rule, examples: undefined })) }
}

import type { Plugin } from 'rolldown'
import { storeTables } from '../../scanner/src/match/stored-tables.ts'
import { builtInDocuments } from '../../scanner/src/rules/built-in.ts'
import { listTables } from '../../scanner/src/rules/list-tables.ts'

/** Replaces modules that read or compute something from all rules by modules that have the result. */
export function bakeRules(): Plugin {
  const baked: Readonly<Record<string, () => string>> = {
    'scanner/src/rules/list-tables.ts': () => `import { readStoredTables } from '../match/stored-tables.ts'
      export const listTables = () => readStoredTables(${JSON.stringify(storeTables(listTables()))})`,
    'scanner/src/rules/built-in.ts': () =>
      `export const builtInDocuments = JSON.parse(${JSON.stringify(JSON.stringify(builtInDocuments.map(withoutExamples)))})`,
  }
  return {
    name: 'bake-rules',
    load(id) {
      const path = Object.keys(baked).find((each) => id.endsWith(each))
      return path === undefined ? null : baked[path]!()
    },
  }
}

/** Only tests use the examples of built-in rules. */
function withoutExamples({ rules = [], ...document }: (typeof builtInDocuments)[number]) {
  return { ...document, rules: rules.map(({ ...rule }) => ({ ...rule, examples: undefined })) }
}

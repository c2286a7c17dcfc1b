import type { Plugin } from 'rolldown'
import { listTables } from '../../scanner/src/rules/list-tables.ts'
import { storeRules } from '../../scanner/src/rules/stored-rules.ts'
import { storeTables } from '../../scanner/src/match/stored-tables.ts'
import * as textRules from '../../scanner/src/rules/text-rules.ts'

/** Replaces modules that compute something from all rules by modules that have the result. */
export function bakeRules(): Plugin {
  const baked: Readonly<Record<string, () => string>> = {
    'scanner/src/rules/list-tables.ts': () => `import { readStoredTables } from '../match/stored-tables.ts'
      export const listTables = () => readStoredTables(${JSON.stringify(storeTables(listTables()))})`,
    'scanner/src/rules/text-rules.ts': () => `import { readStoredRules } from './stored-rules.ts'
      export const { rules, facts, combinations } = readStoredRules(${JSON.stringify(storeRules(textRules))})`,
  }
  return {
    name: 'bake-rules',
    load(id) {
      const path = Object.keys(baked).find((each) => id.endsWith(each))
      return path === undefined ? null : baked[path]!()
    },
  }
}

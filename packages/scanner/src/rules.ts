/** The rules and the engine: a separate entry point, because loading them takes longer than the rest of the package. */
export { readAccess } from './access/read-access.ts'
export { allRules } from './rules/rule-table.ts'
export { toSarif } from './report/sarif.ts'
export { scanFiles } from './scan.ts'

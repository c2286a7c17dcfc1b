/** What the scanner looks for, as an entry of its own: a program that only serves need not load it. */
export { allRules } from './scan/rule-table.ts'
export { toSarif } from './scan/sarif.ts'

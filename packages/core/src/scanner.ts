/** The scanner, as an entry of its own: a program that only scans need not load the registry, nor one that serves the table. */
export { toDigest } from './digest.ts'
export { allRules } from './scan/rule-table.ts'
export { toSarif } from './scan/sarif.ts'
export { scanPackage } from './scan/scan-package.ts'

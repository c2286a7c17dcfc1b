import { compileInsert } from '../storage/compiled-query.ts'

/** Stores the terms of a version's SKILL.md (see `toContentVector`) in the transaction that stores the version. */
export const insertTerms = compileInsert('version_terms')

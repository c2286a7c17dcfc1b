import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { BuiltInDocument } from './rule-document.ts'

const folder = new URL('data/', import.meta.url)

/** The files of built-in rules, in the order of their names. Packages are built with their content in place of this module. */
export const builtInDocuments: readonly BuiltInDocument[] = readdirSync(folder)
  .toSorted()
  .map((name) => parse(readFileSync(new URL(name, folder), 'utf8')) as BuiltInDocument)

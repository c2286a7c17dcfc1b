import { fileURLToPath } from 'node:url'
import { openFolder } from './import/folder.ts'
import type { SourceItem } from './import/records.ts'

/** Packed, they lie in the package; in a clone, at its root. */
const toFolder = import.meta.url.endsWith('.ts') ? '../../../examples/skills' : '../examples/skills'

/** The example skills. */
export function readExamples(): AsyncIterable<SourceItem> {
  return openFolder(fileURLToPath(new URL(toFolder, import.meta.url))).items
}

import { fileURLToPath } from 'node:url'
import { openFolder, type SourceItem } from '@skillstead/skill-format/archives'

/** In the published package the examples are inside the package; in a clone they are at the root of the clone. */
const toFolder = import.meta.url.endsWith('.ts') ? '../../../../examples/skills' : '../examples/skills'

/** The example skills. */
export function readExamples(): AsyncIterable<SourceItem> {
  return openFolder(fileURLToPath(new URL(toFolder, import.meta.url))).items
}

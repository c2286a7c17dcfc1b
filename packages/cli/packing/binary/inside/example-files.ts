/** Replaces `packages/cli/src/serving/example-files.ts`. */
import { getAsset } from 'node:sea'
import type { SourceItem } from '@skillstead/skill-format/archives'

/** The asset with the example files, in base64. */
export const examplesAsset = 'examples.json'

/** The example skills. */
export function readExamples(): SourceItem[] {
  const items: (SourceItem & { files: { path: string; bytes: string }[] })[] = JSON.parse(
    getAsset(examplesAsset, 'utf8'),
  )
  return items.map((item) => ({
    ...item,
    files: item.files.map((file) => ({ ...file, bytes: Buffer.from(file.bytes, 'base64') })),
  }))
}

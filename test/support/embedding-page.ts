import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isOutput, readBlocks } from './doc-commands.ts'

export const examplesFolder = join(import.meta.dirname, '../../examples')

/** A program of docs/embedding.md. */
interface Shown {
  /** Its file in examples/embedding. */
  readonly name: string
  readonly code: string
  /** The output that the page shows below the code; undefined for a part of another program. */
  readonly output: string | undefined
}

/** The programs that docs/embedding.md shows: a block with the name of a file, then perhaps a block of its output. */
export function readShown(): Shown[] {
  const blocks = readBlocks('docs/embedding.md')
  return blocks.flatMap(({ info, text }, index) => {
    const name = info[1]
    if (info[0] !== 'ts' || name === undefined) return []
    const next = blocks[index + 1]
    return [{ name, code: text, output: next?.info[0] === 'text' ? next.text : undefined }]
  })
}

/** A file of examples/embedding as the page shows it: without its first comment. */
export function readExample(name: string): string {
  const text = readFileSync(join(examplesFolder, 'embedding', name), 'utf8')
  return text.replace(/^(?:\/\/.*\n)+/, '')
}

/** What differs between an output and what the page shows; undefined if nothing does. */
export function findDifference(shown: string | undefined, actual: string): string | undefined {
  return isOutput(shown ?? '', actual) ? undefined : actual
}

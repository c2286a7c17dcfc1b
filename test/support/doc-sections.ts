import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** A heading of a document and the text below it, up to the next heading. */
export interface Section {
  readonly title: string
  /** What a link names after `#`. */
  readonly anchor: string
  /** The anchor of the section of level 2 that contains a section of level 3. */
  readonly within?: string
  readonly text: string
}

/** The sections of levels 1 to 3 of a document, in order. Code blocks are left out. */
export function readSections(document: string): Section[] {
  const text = readFileSync(join(root, document), 'utf8').replaceAll(/^```[^]*?^```$/gm, '')
  let within: string | undefined
  return [...text.matchAll(/^(#{1,3}) (.+)\n([^]*?)(?=^#{1,3} |(?![^]))/gm)].map(([, marks, title, body]) => {
    const anchor = toAnchor(title!)
    if (marks === '##') within = anchor
    return { title: title!, anchor, ...(marks === '###' && within !== undefined && { within }), text: body! }
  })
}

/** The anchor that GitHub gives to a heading. */
function toAnchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** The rows of the tables in a section, without their heads: a list of cells each. */
export function readRows({ text }: Section): string[][] {
  const tables = text.split(/\n(?!\|)/).map((part) => part.split('\n').filter((line) => line.startsWith('|')))
  return tables.flatMap((lines) =>
    lines.slice(2).map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    ),
  )
}

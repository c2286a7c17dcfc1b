import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

interface NamedTest {
  /** The test file, such as `skill-format/archives` for `test/skill-format/archives.test.ts`. */
  readonly file: string
  readonly title: string
}

const page = readFileSync(join(import.meta.dirname, '../../docs/threats.md'), 'utf8')
const heading = '| threat | from | defence | test |'
const sections = page.split(/^### /m).slice(1)
const rows = sections.flatMap((section) => {
  const lines = section.split('\n## ')[0]!.split('\n')
  return lines.slice(lines.indexOf(heading) + 2).filter((line) => line.startsWith('|'))
})

describe('docs/threats.md', () => {
  it('has a table of threats for each entry point', () => {
    expect(sections.filter((section) => !section.includes(heading))).toEqual([])
    expect(rows.length).toBeGreaterThan(60)
  })

  it('names the measure and a test for each threat, in the expected format', () => {
    const wrong = rows.filter((row) => {
      const [, threat = '', from = '', holds = '', tests = '', ...rest] = row.split(/(?<!\\)\|/)
      const isWhole = [threat, from, holds].every((cell) => cell.trim() !== '') && rest.join('') === ''
      return !isWhole || toTests(tests).map(toCell).join('<br>') !== tests.trim()
    })
    expect(wrong).toEqual([])
  })

  it('names existing tests with their exact titles', () => {
    const missing = rows
      .flatMap(toTests)
      .filter((named) => !isThere(named))
      .map(toCell)
    expect(missing).toEqual([])
  })

  it('is not accepted with a test that does not exist', () => {
    expect(isThere({ file: 'workspace/does-not-exist', title: 'anything' })).toBe(false)
    expect(isThere({ file: 'workspace/threats', title: 'has a table of threats for each entry' })).toBe(false)
    expect(isThere({ file: 'workspace/threats', title: 'has a table of threats for each entry point' })).toBe(true)
  })
})

function toTests(cell: string): NamedTest[] {
  return [...cell.matchAll(/`([a-z0-9-]+\/[a-z0-9-]+)` “([^”]+)”/g)].map(([, file, title]) => ({
    file: file!,
    title: title!,
  }))
}

function toCell({ file, title }: NamedTest): string {
  return `\`${file}\` “${title}”`
}

/** Whether the file contains a test with exactly this title, also of `it.each`. */
function isThere({ file, title }: NamedTest): boolean {
  const path = [`${file}.test.ts`, `${file}.long.test.ts`]
    .map((name) => join(import.meta.dirname, '..', name))
    .find((candidate) => existsSync(candidate))
  if (!path) return false
  const text = readFileSync(path, 'utf8').replaceAll(/\(\s+/g, '(')
  return ["'", '"', '`'].some((quote) => text.includes(`(${quote}${title.replaceAll('\\|', '|')}${quote}`))
}

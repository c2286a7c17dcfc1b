import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

interface NamedTest {
  /** As in `archives`, of `test/skill-format/archives.test.ts`. */
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

describe('the page of threats', () => {
  it('has a table of threats for each door', () => {
    expect(sections.filter((section) => !section.includes(heading))).toEqual([])
    expect(rows.length).toBeGreaterThan(60)
  })

  it('names for each threat what holds it, and a test, in a form that can be read', () => {
    const wrong = rows.filter((row) => {
      const [, threat = '', from = '', holds = '', tests = '', ...rest] = row.split(/(?<!\\)\|/)
      const isWhole = [threat, from, holds].every((cell) => cell.trim() !== '') && rest.join('') === ''
      return !isWhole || toTests(tests).map(toCell).join('<br>') !== tests.trim()
    })
    expect(wrong).toEqual([])
  })

  it('names tests that there are, by their very titles', () => {
    const missing = rows
      .flatMap(toTests)
      .filter((named) => !isThere(named))
      .map(toCell)
    expect(missing).toEqual([])
  })

  it('would miss a test that is not there', () => {
    expect(isThere({ file: 'workspace/nobody-wrote-this', title: 'anything' })).toBe(false)
    expect(isThere({ file: 'workspace/threats', title: 'has a table of threats for each' })).toBe(false)
    expect(isThere({ file: 'workspace/threats', title: 'has a table of threats for each door' })).toBe(true)
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

/** Whether a file calls something, as `it` or what `it.each` gives, with this very title. */
function isThere({ file, title }: NamedTest): boolean {
  const path = [`${file}.test.ts`, `${file}.long.test.ts`]
    .map((name) => join(import.meta.dirname, '..', name))
    .find((candidate) => existsSync(candidate))
  if (!path) return false
  const text = readFileSync(path, 'utf8').replaceAll(/\(\s+/g, '(')
  return ["'", '"', '`'].some((quote) => text.includes(`(${quote}${title.replaceAll('\\|', '|')}${quote}`))
}

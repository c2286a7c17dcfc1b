import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documents } from '../support/doc-commands.ts'
import { readSections } from '../support/doc-sections.ts'
import { requirements } from '../support/requirements.ts'

const root = join(import.meta.dirname, '../..')
const sections = readSections('docs/api.md')

describe('the base API in docs/api.md', () => {
  it.each(requirements)('has a test for “$says” of section $section', ({ file, title }) => {
    const titles = readFileSync(new URL(file, import.meta.url), 'utf8').match(titlePattern) ?? []
    expect(title).not.toBe('')
    expect(titles.filter((text) => text.includes(title))).not.toEqual([])
  })

  it('has sections with at least one requirement each, and requirements of no other section', () => {
    const named = sections.filter(({ within }) => within === 'the-base-api').map(({ anchor }) => anchor)
    expect([...new Set(requirements.map(({ section }) => section))]).toEqual(named)
  })
})

describe('a link', () => {
  it.each([...documents, 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'])(
    'of %s leads to a file and a section that exist',
    (from) => {
      const links = [...readFileSync(join(root, from), 'utf8').matchAll(/\]\(([^)\s:#]*)(?:#([\w-]+))?\)/g)]
      const wrong = links.filter(([, path, anchor]) => {
        const target = path === '' ? from : join(dirname(from), path!)
        if (!existsSync(join(root, target))) return true
        return anchor !== undefined && !readSections(target).some((section) => section.anchor === anchor)
      })
      expect(wrong.map(([link]) => link)).toEqual([])
    },
  )
})

describe('a citation', () => {
  it('of a section of a document names a section that exists', () => {
    const wrong = globSync(['packages/*/{src,packing,building}/**/*.{ts,tsx}', '{examples,test}/**/*.ts'], {
      cwd: root,
      exclude: ['**/node_modules/**', '**/dist/**'],
    }).flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/\b(docs\/[\w-]+\.md)#([\w-]+)/g)]
        .filter(([, document, anchor]) => !readSections(document!).some((section) => section.anchor === anchor))
        .map(([citation]) => `${file}: ${citation}`),
    )
    expect(wrong).toEqual([])
  })
})

/** The beginning of a test: `it('...`, or of several: `it.each(rows)('...`. */
const titlePattern = /^\s*it(?:\.\w+\([\s\S]*?\))?\(\s*['"`].*$/gm

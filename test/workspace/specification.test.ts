import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { requirements } from '../support/requirements.ts'

describe('each requirement of sections 2 to 4 and 6 of the specification is named by a test', () => {
  it.each(requirements)('$section: $says', ({ file, title }) => {
    const titles = readFileSync(new URL(file, import.meta.url), 'utf8').match(titlePattern) ?? []
    expect(title).not.toBe('')
    expect(titles.filter((text) => text.includes(title))).not.toEqual([])
  })
})

/** The beginning of a test: `it('...`, or of several: `it.each(rows)('...`. */
const titlePattern = /^\s*it(?:\.\w+\([\s\S]*?\))?\(\s*['"`].*$/gm

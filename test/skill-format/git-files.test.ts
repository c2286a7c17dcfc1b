import { fromPathInGit, toPathInGit } from '@skillstead/skill-format/archives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('a path in a git repository', () => {
  it.each([
    ['.gitattributes', '.gitattributes.skill'],
    ['a/.GitAttributes', 'a/.GitAttributes.skill'],
    ['.gitmodules/a.txt', '.gitmodules.skill/a.txt'],
    ['.lfsconfig', '.lfsconfig.skill'],
    ['.git\u200cmodules', '.git\u200cmodules.skill'],
    ['.gitattributes. ', '.gitattributes. .skill'],
    ['GITATT~1', 'GITATT~1.skill'],
    ['gi7eba~1', 'gi7eba~1.skill'],
    ['.gitattributes.skill', '.gitattributes.skill.skill'],
    ['.gitattributes.SKILL', '.gitattributes.SKILL.skill'],
  ])('%s is %s', (path, expected) => {
    expect(toPathInGit(path)).toBe(expected)
  })

  it.each(['.gitignore', 'gitattributes', '.gitattributes.md', 'a.gitmodules', 'notes~1', '.github/a.yml', 'a.skill'])(
    '%s stays',
    (path) => {
      expect(toPathInGit(path)).toBe(path)
    },
  )

  it('has no name that is too long', () => {
    const path = `.gitattributes${'.skill'.repeat(40)}`
    expect(toPathInGit(path)).toMatch(/^[\da-f]{64}\.skill$/)
  })

  it('is another one for each path, and leads back to it', () => {
    const name = fc
      .tuple(
        fc.constantFrom('.gitattributes', '.GITMODULES', '.lfsconfig', 'gitmod~1', '.git\u200battributes', 'a'),
        fc.constantFrom('', '.skill', '.SKILL', '.skill.skill', ' .skill', '.md'),
      )
      .map((parts) => parts.join(''))
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 20 }), (paths) => {
        const inGit = paths.map(toPathInGit)
        expect(new Set(inGit).size).toBe(paths.length)
        expect(inGit.map(fromPathInGit)).toEqual(paths)
      }),
    )
  })
})

import { checkPaths, fromPathInGit, toPathInGit } from '@skillstead/skill-format/archives'
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
    '%s stays unchanged',
    (path) => {
      expect(toPathInGit(path)).toBe(path)
    },
  )

  it.each([
    `.gitattributes${'.skill'.repeat(40)}`,
    `.gitModules${'\u200b'.repeat(80)}`,
    `~/.lfsconfig${'\u00ad'.repeat(118)}.skill`,
  ])('is refused for a name that its suffix would make too long (%#)', (path) => {
    const shorter = path.replace(/\.skill$|\u200b{2}/, '')
    expect(checkPaths([{ path }])).toEqual([
      { path, message: expect.stringContaining('Git reads files of this name.') },
    ])
    expect(checkPaths([{ path: shorter }, { path: path.replace(/\.(git|lfs)/i, '.x$1') }])).toEqual([])
    expect(fromPathInGit(toPathInGit(shorter))).toBe(shorter)
  })

  it('may have the full maximum length if git does not interpret the file', () => {
    const paths = [`.gitignore${'.skill'.repeat(40)}`, `.gitattributes/${'a'.repeat(240)}`]
    expect(checkPaths(paths.map((path) => ({ path })))).toEqual([])
  })

  it('is unique for each path, and can be converted back', () => {
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

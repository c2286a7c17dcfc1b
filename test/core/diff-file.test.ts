import { applyPatch } from 'diff'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffFile } from '../../packages/core/src/catalogue/skills/diff-skill.ts'

const bytes = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text))
const diff = (from: string | undefined, to: string | undefined, path = 'a.md') =>
  diffFile({ path, from: bytes(from), to: bytes(to) })

const many = (of: string) => Array.from({ length: 9000 }, (_, i) => `${of}${i % 7}${i}`).join('\n')

describe('the patch of a file', () => {
  it("has git's format, with three lines of context", () => {
    const lines = ['1', '2', '3', '4', '5', '6', '7', '8', '9']
    const changed = lines.with(4, 'five')
    expect(diff(`${lines.join('\n')}\n`, `${changed.join('\n')}\n`)).toEqual({
      path: 'a.md',
      status: 'changed',
      binary: false,
      diff: ['diff --git a/a.md b/a.md', '--- a/a.md', '+++ b/a.md', '@@ -2,7 +2,7 @@']
        .concat([' 2', ' 3', ' 4', '-5', '+five', ' 6', ' 7', ' 8', ''])
        .join('\n'),
    })
  })

  it('creates and deletes files', () => {
    expect(diff(undefined, 'new')).toMatchObject({
      status: 'added',
      diff: [
        'diff --git a/a.md b/a.md',
        'new file mode 100644',
        '--- /dev/null',
        '+++ b/a.md',
        '@@ -0,0 +1,1 @@',
        '+new',
        '\\ No newline at end of file',
        '',
      ].join('\n'),
    })
    expect(diff('old\n', undefined)).toMatchObject({ status: 'removed' })
    expect(diff('old\n', undefined).diff).toContain('deleted file mode 100644')
    expect(diff(undefined, '').diff).toBe('diff --git a/a.md b/a.md\nnew file mode 100644\n')
  })

  it('ends file names that contain spaces with a tab, and writes other names as git does', () => {
    expect(diff('a\n', 'b\n', 'my file.md').diff).toContain('\n--- a/my file.md\t\n+++ b/my file.md\t\n@@ ')
    expect(diff('a\n', 'b\n', 'ü.md').diff).toContain('\n--- "a/\\303\\274.md"\n')
  })

  it('is omitted for binary and large files, and the reason is returned instead', () => {
    expect(diff('a', 'a\0')).toEqual({ path: 'a.md', status: 'changed', binary: true, diff: null, omitted: 'binary' })
    const noText = { path: 'a', from: Buffer.from([0xff, 0xfe]), to: Buffer.from('x') }
    expect(diffFile(noText)).toMatchObject({ binary: true, diff: null })
    expect(diff('a', 'x'.repeat(600_000))).toMatchObject({ binary: false, diff: null, omitted: 'too large' })
    expect(diff('a', '\n'.repeat(10_002))).toMatchObject({ binary: false, diff: null, omitted: 'too large' })
  })

  it('is correct, but not the shortest possible, for two texts with little in common', () => {
    const { diff: patch } = diff(many('a'), many('b'))
    expect(applyPatch(many('a'), patch!, { autoConvertLineEndings: false })).toBe(many('b'))
    expect(diff(undefined, many('a')).diff!.split('\n').length).toBeGreaterThan(9000)
  })

  it('turns the old text into the new text when it is applied, for any two texts', () => {
    const line = fc.oneof(
      fc.constantFrom('', 'a', 'b', '--- a', '+++ b', '@@ -1 +1 @@', '\\ No newline', '\r', '\ufeff', '\u2028'),
      fc.string({ unit: 'grapheme' }),
    )
    const ending = fc.constantFrom('\n', '\r\n', '')
    const text = fc
      .array(fc.tuple(line, ending), { maxLength: 30 })
      .map((lines) => lines.flat().join(''))
      .filter((made) => made.isWellFormed() && !made.includes('\0'))
    fc.assert(
      fc.property(text, text, (from, to) => {
        fc.pre(from !== to)
        const { diff: patch } = diff(from, to)
        expect(applyPatch(from, patch!, { autoConvertLineEndings: false })).toBe(to)
      }),
      { numRuns: 500 },
    )
  })
})

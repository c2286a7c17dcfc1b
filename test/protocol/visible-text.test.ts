import { toMarkedText, toVisibleText } from '@skillstead/protocol'
import { describe, expect, it } from 'vitest'

describe('invisible characters', () => {
  it.each([
    ['if (is\u202Eadmin\u2066)', 'if (is[U+202E]admin[U+2066])', 'if (isadmin)'],
    ['Ig\u200Bnore\uFEFF', 'Ig[U+200B]nore[U+FEFF]', 'Ignore'],
    ['a\u{E0041}b', 'a[U+E0041]b', 'ab'],
    ['\u0000\u001B[31m', '[U+0000][U+001B][31m', '[31m'],
  ])('of %j become visible marks in source views, and are removed elsewhere', (text, marked, visible) => {
    expect(toMarkedText(text)).toBe(marked)
    expect(toVisibleText(text)).toBe(visible)
  })

  it.each(['👩‍💻 and ❤️', 'نمی‌خواهم', 'a\tb\r\nc', '日本語', 'café', ''])(
    'are left unchanged in %j, where they affect the visible text or do not occur',
    (text) => {
      expect(toMarkedText(text)).toBe(text)
      expect(toVisibleText(text)).toBe(text)
    },
  )
})

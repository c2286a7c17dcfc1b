import type { EngineRuleId } from '../rules/engine-rules.ts'
import type { FileRole } from './role.ts'

const kinds: readonly { readonly rule: EngineRuleId; readonly pattern: RegExp }[] = [
  // Invisible copies of ASCII. The flags of England, Scotland and Wales contain some of them, after a black flag.
  { rule: 'tag-characters', pattern: /(?<!\u{1f3f4}|[\u{e0020}-\u{e007f}])[\u{e0020}-\u{e007f}]{8,}/gu },
  {
    rule: 'zero-width-run',
    pattern: /[\u200b-\u200d\u2060-\u2064\ufeff]{8,}|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{8,}/gu,
  },
  // Characters that end a direction (U+202C, U+2069) are harmless alone, so no match begins with them.
  { rule: 'bidi-control', pattern: /[\u202a\u202b\u202d\u202e\u2066-\u2068][\u202a-\u202e\u2066-\u2069]*/g },
]
/** Direction controls are legitimate next to letters of right-to-left scripts. */
const rightToLeftPattern = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/
/** A text without any of these characters, such as most Latin texts, is not examined further. */
const unseen = /[\u200b-\u200d\u202a-\u202e\u2060-\u2069\ufeff]|[\ufe00-\ufe0f]|\udb40/

/** Finds characters and gaps that hide text from a reader, whatever the hidden text is. */
export function* findHidden(text: string, role: FileRole) {
  if (role === 'instruction' || role === 'reference') yield* findPadding(text)
  if (!unseen.test(text)) return
  for (const { rule, pattern } of kinds) {
    for (const { index } of text.matchAll(pattern)) {
      const around = rule === 'bidi-control' ? text.slice(Math.max(0, index - 200), index + 200) : ''
      if (!rightToLeftPattern.test(around)) yield { rule, start: index }
    }
  }
}

/** Gaps after which people stop reading. */
const gaps = ['\n'.repeat(200), '\r\n'.repeat(200), ' '.repeat(600)] as const

/** Finds long gaps, reported at the line before the gap; rules scan the text after the gap. */
function* findPadding(text: string) {
  for (const gap of gaps) {
    // The beginning of a gap is found faster than the gap, and most texts have none.
    const at = text.includes(gap.slice(0, 40)) ? text.indexOf(gap) : -1
    if (at === -1 || !/\S/.test(text.slice(at))) continue
    yield { rule: 'padding' as const, start: text.lastIndexOf('\n', Math.max(0, at - 1)) + 1 }
  }
}

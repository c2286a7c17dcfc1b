import { namesKeyForStranger } from './issuers.ts'
import { imageLooksAlike, namesLookAlike } from './look-alike-names.ts'
import type { checkNames } from './rule-document.ts'

/** What an expression cannot tell about the text that it matched, by the names that rules use. */
export const checks = {
  'package-looks-alike': namesLookAlike,
  'image-looks-alike': imageLooksAlike,
  'key-for-stranger': namesKeyForStranger,
} as const satisfies Record<(typeof checkNames)[number], (text: string) => boolean>

import { namesKeyForStranger } from './issuers.ts'
import { aliasLooksAlike, gemLooksAlike, imageLooksAlike, namesLookAlike } from './look-alike-names.ts'
import type { checkNames } from './rule-document.ts'

/** What an expression cannot tell about the text that it matched, by the names that rules use. */
export const checks = {
  'package-looks-alike': namesLookAlike,
  'alias-looks-alike': aliasLooksAlike,
  'image-looks-alike': imageLooksAlike,
  'gem-looks-alike': gemLooksAlike,
  'key-for-stranger': namesKeyForStranger,
} as const satisfies Record<(typeof checkNames)[number], (text: string) => boolean>

import { namesKeyForStranger } from './issuers.ts'
import { aliasLooksAlike, gemLooksAlike, imageLooksAlike, namesLookAlike } from './look-alike-names.ts'

/** What an expression cannot tell about the text that it matched, by the names that rules use. */
export const checks = {
  'package-looks-alike': namesLookAlike,
  'alias-looks-alike': aliasLooksAlike,
  'image-looks-alike': imageLooksAlike,
  'gem-looks-alike': gemLooksAlike,
  'key-for-stranger': namesKeyForStranger,
} as const satisfies Record<string, (text: string) => boolean>

export const checkNames = Object.keys(checks) as (keyof typeof checks)[]

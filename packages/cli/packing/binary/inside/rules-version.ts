/** In place of `packages/scanner/src/rules-version.ts`, which loads all rules. */
import { getAsset } from 'node:sea'

/** As it was when the executable was built. */
export const rulesVersion = getAsset('rules-version', 'utf8')

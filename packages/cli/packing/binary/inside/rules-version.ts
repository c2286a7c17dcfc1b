/** Replaces `packages/scanner/src/rules-version.ts`, which loads all rules. */
import { getAsset } from 'node:sea'

/** The version at the time of the build. */
export const rulesVersion = getAsset('rules-version', 'utf8')

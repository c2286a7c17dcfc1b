/** Replaces `version.ts` of `packages/cli` and `packages/server`: all packages have the same version. */
import { getAsset } from 'node:sea'

/** The version of this program. */
export function readProgramVersion(): string {
  return getAsset('version', 'utf8')
}

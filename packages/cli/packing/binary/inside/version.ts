/** In place of the `version.ts` of `packages/cli` and `packages/server`: the packages have one version. */
import { getAsset } from 'node:sea'

/** The version of this program. */
export function readVersion(): string {
  return getAsset('version', 'utf8')
}

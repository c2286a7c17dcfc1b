/** Replaces `packages/cli/src/serving/dashboard-files.ts`. */
import { getAsset, getAssetKeys } from 'node:sea'
import type { StaticFiles } from '@skillstead/server'

const prefix = 'dashboard/'

/** The files of the dashboard. */
export function findDashboard(): StaticFiles {
  const keys = getAssetKeys().filter((key) => key.startsWith(prefix))
  return new Map(keys.map((key) => [key.slice(prefix.length), () => new Uint8Array(getAsset(key))]))
}

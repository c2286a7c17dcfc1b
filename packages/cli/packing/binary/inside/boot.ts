/**
 * What the executable and each of its threads runs first: everything else lies beside it as an asset. It imports
 * nothing of Node, so that its text runs as a script and as a module.
 */
import { createLoader } from './chunks.ts'

const { getAsset, getRawAsset } = process.getBuiltinModule('node:sea')

/** Runs a chunk; the build adds the call. */
export const load = createLoader({
  readCode: (name) => getAsset(`code/${name}`, 'utf8'),
  readCompiled: (name) => new Uint8Array(getRawAsset(`compiled/${name}`)),
})

/**
 * The first code of the executable and of its threads; everything else is an asset. This file imports no Node modules,
 * so that its text can run as a script and as a module.
 */
import { createLoader } from './chunks.ts'

const { getAsset, getRawAsset } = process.getBuiltinModule('node:sea')

/** Runs a chunk; the build appends the call of this function. */
export const load = createLoader({
  readCode: (name) => getAsset(`code/${name}`, 'utf8'),
  readCompiled: (name) => new Uint8Array(getRawAsset(`compiled/${name}`)),
})

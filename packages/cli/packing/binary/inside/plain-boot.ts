/** Replaces `boot.ts` in an executable for another kind of machine, for which the build cannot compile. */
import { createLoader } from './chunks.ts'

const { getAsset } = process.getBuiltinModule('node:sea')

/** Runs a chunk; the build appends the call of this function. */
export const load = createLoader({ readCode: (name) => getAsset(`code/${name}`, 'utf8') })

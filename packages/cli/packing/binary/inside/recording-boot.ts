/** Replaces `boot.ts` in an executable that is run once during the build: at its end it writes V8's code cache. */
import { createLoader } from './chunks.ts'

const { getAsset, getAssetKeys } = process.getBuiltinModule('node:sea')
const { writeFileSync } = process.getBuiltinModule('node:fs')
const { Script } = process.getBuiltinModule('node:vm')
const { isMainThread } = process.getBuiltinModule('node:worker_threads')

const readCode = (name: string) => getAsset(`code/${name}`, 'utf8')
const scripts = new Map<string, import('node:vm').Script>()

/** Runs a chunk; the build appends the call of this function. */
export const load = createLoader({ readCode, onScript: (name, script) => scripts.set(name, script) })

if (isMainThread) process.once('exit', writeCodeCache)

/**
 * Writes V8's code cache of each chunk. The cache of a chunk that ran includes the functions that were called; the
 * cache of any other chunk has only the result of compiling the chunk.
 */
function writeCodeCache(): void {
  for (const key of getAssetKeys().filter((one) => one.startsWith('code/'))) {
    const name = key.slice('code/'.length)
    const script = scripts.get(name) ?? new Script(readCode(name), { filename: `skillstead/${name}` })
    writeFileSync(`${process.env.SKILLSTEAD_RECORD_TO}/${name}`, script.createCachedData())
  }
}

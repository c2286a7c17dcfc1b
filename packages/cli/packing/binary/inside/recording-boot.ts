/** In place of `boot.ts` in an executable that is run once, while building: at its end it writes what V8 compiled. */
import { createLoader } from './chunks.ts'

const { getAsset, getAssetKeys } = process.getBuiltinModule('node:sea')
const { writeFileSync } = process.getBuiltinModule('node:fs')
const { Script } = process.getBuiltinModule('node:vm')
const { isMainThread } = process.getBuiltinModule('node:worker_threads')

const readCode = (name: string) => getAsset(`code/${name}`, 'utf8')
const scripts = new Map<string, import('node:vm').Script>()

/** Runs a chunk; the build adds the call. */
export const load = createLoader({ readCode, onScript: (name, script) => scripts.set(name, script) })

if (isMainThread) process.once('exit', write)

/** Of what ran, the functions that were called too; of the rest, what compiling it without a call gives. */
function write(): void {
  for (const key of getAssetKeys().filter((one) => one.startsWith('code/'))) {
    const name = key.slice('code/'.length)
    const script = scripts.get(name) ?? new Script(readCode(name), { filename: `skillstead/${name}` })
    writeFileSync(`${process.env.SKILLSTEAD_RECORD_TO}/${name}`, script.createCachedData())
  }
}

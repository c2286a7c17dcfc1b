import type { Plugin } from 'rolldown'

const module = 'scanner/src/code/parse.ts'
const ownRequire = 'const require = createRequire(import.meta.url)'

/** Bundles the parsers that the scanner requires on use. They are evaluated on use also in a bundle of one file. */
export function bundleRequired(): Plugin {
  return {
    name: 'bundle-required',
    transform(code, id) {
      if (!id.endsWith(module)) return null
      if (!code.includes(ownRequire)) throw new Error(`${module} no longer contains the line: ${ownRequire}`)
      return code.replace(ownRequire, '')
    },
  }
}

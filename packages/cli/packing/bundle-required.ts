import type { Plugin } from 'rolldown'

const modules = [
  'scanner/src/code/parse.ts',
  'scanner/src/code/shell/shell-syntax.ts',
  'scanner/src/match/read-expression.ts',
]
const ownRequire = 'const require = createRequire(import.meta.url)'

/**
 * Bundles the parsers that the scanner loads with `require` on use. Each parser is evaluated only on use, even in a
 * bundle of one file.
 */
export function bundleRequired(): Plugin {
  return {
    name: 'bundle-required',
    transform(code, id) {
      const module = modules.find((path) => id.endsWith(path))
      if (module === undefined) return null
      if (!code.includes(ownRequire))
        throw new Error(`${module} no longer contains the line: ${ownRequire}. Adapt bundle-required.ts to it.`)
      return code.replace(ownRequire, '')
    },
  }
}

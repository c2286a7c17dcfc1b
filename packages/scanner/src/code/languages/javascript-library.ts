import { readNamedVariable } from '../effects.ts'
import { functions, methods } from '../functions.ts'
import type { Library } from '../library.ts'

const globals = new Set(
  `fetch eval Function require import process Buffer String Object JSON Array Number Reflect globalThis window global self setTimeout
   setInterval setImmediate atob unescape decodeURIComponent decodeURI parseInt XMLHttpRequest WebSocket navigator Deno Bun module
   Uint8Array TextDecoder structuredClone axios $`.split(/\s+/),
)

const aliases: readonly [RegExp, string][] = [
  [/^(?:globalThis|window|global|self)(?:\(\))?\./, ''],
  [/^process\.mainModule\.require/, 'require'],
  [/^node:/, ''],
  [/^fs(?:\.promises|\/promises|-extra)\b/, 'fs'],
  [/(?<=\w)\.default\b/, ''],
  [/^https?\.(?=post|put)/, 'axios.'],
  [/^.*\.constructor\.constructor$|^Function\.constructor$/, 'Function'],
]

/** JavaScript and TypeScript. */
export const javascript: Library = {
  language: 'script',
  toPath(path) {
    // Most are the name of a variable.
    if (!path.includes('.') && !path.includes(':')) return path
    return aliases.reduce((plain, [pattern, name]) => plain.replace(pattern, name), path)
  },
  globals,
  functions,
  methods,
  value(path, code, on) {
    if (path === 'process.env') return { path, facts: [on.wholeEnvironment(code)], made: [] }
    const name = /^(?:process|Bun)\.env\.(\w{1,80})$/.exec(path)?.[1]
    return name === undefined ? undefined : readNamedVariable(name, code, on)
  },
}

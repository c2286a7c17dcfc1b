import { readNamedVariable } from '../effects.ts'
import { functions, methods } from '../functions.ts'
import type { Library } from '../library.ts'

interface Names {
  /** Names that need no definition, separated by white space. */
  readonly globals: string
  /** Other spellings of library paths, each with the usual one. */
  readonly aliases: readonly (readonly [RegExp, string])[]
  /** The path of the object with all environment variables, and a pattern for the paths of single variables. */
  readonly environment: string
  readonly variable: RegExp
}

/** The library of a language with its own names. Both languages share one table of functions. */
function toLibrary(language: Library['language'], { globals, aliases, environment, variable }: Names): Library {
  return {
    language,
    toPath: (path) => aliases.reduce((plain, [pattern, name]) => plain.replace(pattern, name), path),
    globals: new Set(globals.split(/\s+/)),
    functions,
    methods,
    value(path, code, on) {
      if (path === environment) return { path, facts: [on.wholeEnvironment(code)], made: [] }
      const name = variable.exec(path)?.[1]
      return name === undefined ? undefined : readNamedVariable(name, code, on)
    },
  }
}

/** JavaScript and TypeScript. */
export const javascript = toLibrary('script', {
  globals: `fetch eval Function require import process Buffer String Object JSON Array Number Reflect globalThis window global self
    setTimeout setInterval setImmediate atob unescape decodeURIComponent decodeURI parseInt XMLHttpRequest WebSocket navigator Deno
    Bun module Uint8Array TextDecoder structuredClone axios $`,
  aliases: [
    [/^(?:globalThis|window|global|self)(?:\(\))?\./, ''],
    [/^process\.mainModule\.require/, 'require'],
    [/^node:/, ''],
    [/^fs(?:\.promises|\/promises|-extra)\b/, 'fs'],
    [/(?<=\w)\.default\b/, ''],
    [/^https?\.(?=post|put)/, 'axios.'],
    [/^.*\.constructor\.constructor$|^Function\.constructor$/, 'Function'],
  ],
  environment: 'process.env',
  variable: /^(?:process|Bun)\.env\.(\w{1,80})$/,
})

/** Python. */
export const python = toLibrary('python', {
  globals: `exec eval compile open getattr setattr chr ord bytes bytearray int str list tuple set sorted reversed range enumerate len
    map globals locals vars __import__ __builtins__ execfile`,
  aliases: [
    [/\.__dict__\b/, ''],
    [/^__builtins__/, 'builtins'],
    [/^builtins\.builtins/, 'builtins'],
    [/^builtins\.(?=__import__|os\b|subprocess\b|socket\b|requests\b|base64\b)(?!__import__)/, ''],
    [/^(?:multiprocessing\.)?os\.sys\.modules\b|^sys\.modules\b/, 'builtins'],
    [/^(?:posix|nt)\.system$/, 'os.system'],
    [/^os\.environb/, 'os.environ'],
    [/^Path\b/, 'pathlib.Path'],
  ],
  environment: 'os.environ',
  variable: /^os\.environ\.([A-Z]\w{0,79})$/,
})

import { readNamedVariable } from '../effects.ts'
import { functions, methods } from '../functions.ts'
import type { Library } from '../library.ts'

const globals = new Set(
  `exec eval compile open getattr setattr chr ord bytes bytearray int str list tuple set sorted reversed range enumerate len map
   globals locals vars __import__ __builtins__ execfile`.split(/\s+/),
)

const aliases: readonly [RegExp, string][] = [
  [/\.__dict__\b/, ''],
  [/^__builtins__/, 'builtins'],
  [/^builtins\.builtins/, 'builtins'],
  [/^builtins\.(?=__import__|os\b|subprocess\b|socket\b|requests\b|base64\b)(?!__import__)/, ''],
  [/^(?:multiprocessing\.)?os\.sys\.modules\b|^sys\.modules\b/, 'builtins'],
  [/^(?:posix|nt)\.system$/, 'os.system'],
  [/^os\.environb/, 'os.environ'],
  [/^Path\b/, 'pathlib.Path'],
]

/** Python. */
export const python: Library = {
  language: 'python',
  toPath: (path) => aliases.reduce((plain, [pattern, name]) => plain.replace(pattern, name), path),
  globals,
  functions,
  methods,
  value(path, code, on) {
    if (path === 'os.environ') return { path, facts: [on.wholeEnvironment(code)], made: [] }
    const name = /^os\.environ\.([A-Z]\w{0,79})$/.exec(path)?.[1]
    return name === undefined ? undefined : readNamedVariable(name, code, on)
  },
}

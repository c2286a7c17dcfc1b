import { runText } from './shell-interpreters.ts'
import { hidesLetters } from './shell-words.ts'
import type { Program } from './shell-programs.ts'
import { splitArguments } from './shell-options.ts'
import { dependOn, empty, joinValues, toValue, unknown, withFacts } from './shell-value.ts'

/** `export`, `declare` and others; without an assignment they print all variables. */
const declare: Program = ({ program, args, run }) => {
  const names = args.filter(({ text }) => !text.startsWith('-'))
  if (names.length > 0 || program === 'local' || program === 'readonly') return empty
  return withFacts(unknown, [run.fact('environment-read')])
}

/** `set` without arguments prints all variables; `set -- a b` sets the arguments. */
const set: Program = ({ args, run }) => {
  if (args.length === 0) return withFacts(unknown, [run.fact('environment-read')])
  const dashes = args.findIndex(({ text }) => text === '--')
  if (dashes !== -1) run.variables.pushArguments(args.slice(dashes + 1))
  return empty
}

const read: Program = ({ args, input, run }) => {
  const { rest, options } = splitArguments(args, '-p -n -N -t -u -d -i')
  const descriptor = options.find(({ name }) => name === '-u')?.value.text
  const given = (descriptor === undefined ? undefined : run.files.readDescriptor(descriptor)) ?? input
  const value = given.text === '' ? { ...unknown, facts: given.facts } : given
  for (const { text } of rest.length > 0 ? rest : [toValue('REPLY')]) run.setVariable(text, value)
  return empty
}

const readLines: Program = ({ args, input, run }) => {
  const name = splitArguments(args, '-d -n -O -s -u -C -c').rest[0]?.text ?? 'MAPFILE'
  run.variables.setArray(
    name,
    input.text.split('\n', 1000).map((text) => ({ ...input, text })),
  )
  return empty
}

export const builtins: Readonly<Record<string, Program>> = {
  export: declare,
  declare,
  typeset: declare,
  local: declare,
  readonly: declare,
  set,
  read,
  mapfile: readLines,
  readarray: readLines,
  shift({ run }) {
    run.variables.shiftArguments()
    return empty
  },
  alias({ args, run }) {
    for (const arg of args) {
      const [, name, text] = /^([\w.-]{1,60})=([^]*)$/.exec(arg.text) ?? []
      if (name !== undefined) run.functions.setAlias(name, { ...arg, text: text! })
    }
    return empty
  },
  trap(call) {
    const [code] = call.args
    return code && /\s/.test(code.text) ? runText(code, empty, call) : empty
  },
  compgen: ({ args, run }) =>
    args.some(({ text }) => text === '-e' || text === '-v')
      ? withFacts(unknown, [run.fact('environment-read')])
      : unknown,
  history: ({ args, run }) =>
    args.some(({ text }) => /^-[cdw]/.test(text)) ? empty : withFacts(unknown, [run.fact('data-collected', 'history')]),
  fc: ({ args, run }) =>
    args.some(({ text }) => text.startsWith('-l'))
      ? withFacts(unknown, [run.fact('data-collected', 'history')])
      : empty,
  ...Object.fromEntries(
    ['true', 'false', ':', '[', 'test', 'exit', 'return', 'cd', 'unset', 'wait', 'sleep'].map((name) => [
      name,
      () => empty,
    ]),
  ),
  printf({ args, run }) {
    const isAssigned = args[0]?.text === '-v'
    const [format, ...values] = isAssigned ? args.slice(2) : args
    if (!format) return empty
    const printed = {
      ...joinValues([format, ...values]),
      text: formatText(
        format.text,
        values.map(({ text }) => text),
      ),
    }
    const isEscaped = hidesLetters.test(format.text + values.map(({ text }) => text).join(''))
    const value = isEscaped ? { ...printed, made: ['escapes', ...printed.made] } : printed
    if (!isAssigned) return value
    run.setVariable(args[1]?.text ?? '', value)
    return empty
  },
  echo({ args }) {
    let at = 0
    while (/^-[neE]{1,3}$/.test(args[at]?.text ?? '')) at++
    const isEscaped = args.slice(0, at).some(({ text }) => text.includes('e'))
    const value = joinValues(args.slice(at), ' ')
    if (!isEscaped || !value.text.includes('\\')) return value
    const isHidden = hidesLetters.test(value.text)
    return { ...value, text: unescape(value.text), made: isHidden ? ['escapes', ...value.made] : value.made }
  },
  pushd: () => empty,
  popd: () => empty,
  type: ({ args }) => dependOn(args),
  which: ({ args }) => dependOn(args),
}

const letters: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '',
  b: '',
  e: '\u001B',
  f: '\f',
  v: '\v',
}

function unescape(text: string): string {
  return text.replace(
    /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|0?([0-7]{1,3})|([ntrabefv\\]))/g,
    (_, hex?: string, unit?: string, octal?: string, letter?: string) => {
      if (letter) return letters[letter] ?? '\\'
      return String.fromCharCode(Number.parseInt(hex ?? unit ?? octal!, octal === undefined ? 16 : 8))
    },
  )
}

/** The output of `printf`, which repeats its format for further arguments. */
function formatText(format: string, values: readonly string[]): string {
  const left = [...values]
  let text = ''
  do {
    const before = left.length
    text += unescape(format).replace(/%(?:%|-?\d*(?:\.\d+)?([sbcdioxXuq]))/g, (_, kind?: string) => {
      if (!kind) return '%'
      const value = left.shift() ?? ''
      if (kind === 'b') return unescape(value)
      if (kind === 'c') return value.slice(0, 1)
      if (kind === 'x' || kind === 'o') return Number(value.trim()).toString(kind === 'x' ? 16 : 8)
      return value
    })
    if (left.length === before) break
  } while (left.length > 0 && text.length < 65_536)
  return text
}

import type { CodeFact } from './reading.ts'
import type { Language } from './shell-run.ts'
import type { Call, Program } from './shell-programs.ts'
import { namesProgram } from './shell-disguise.ts'
import { findOption, splitArguments } from './shell-options.ts'
import {
  dependOn,
  findHiding,
  isKnown,
  joinValues,
  session,
  toValue,
  unknown,
  unknownPart,
  withFacts,
  type Value,
} from './shell-value.ts'

/** Runs a text as shell code, and records where the text comes from. */
export function runText(code: Value, input: Value, { run }: Call): Value {
  const decoding = findDecoding(code, run)
  run.showText(code, decoding.length > 0 || undefined)
  const from = withFacts(code, decoding)
  if (isComputed(from)) sinkCode(from, run)
  return run.runCode(code, input)
}

/**
 * Running a script of another machine as a whole starts a program, as many installers do. Its commands one by one, and
 * decoded ones, are run as code.
 */
function sinkCode(code: Value, run: Call['run']): void {
  const isFetched = code.facts.some(({ kind }) => kind === 'network-fetch')
  run.sink(isFetched && !code.made.includes(session) ? 'program-run' : 'dynamic-run', undefined, [code])
}

/** A text that the script computed from others counts as decoded, if the operation hides it or a program's name in it. */
function findDecoding(value: Value, run: Call['run']): readonly CodeFact[] {
  if (value.facts.some(({ kind }) => kind === 'decode' || kind === 'network-fetch')) return []
  const operation = findHiding(value) ?? value.made.find((each) => each !== session && namesProgram(value.text))
  return operation === undefined || /^\s*(?:set\s|$)/.test(value.text) ? [] : [run.fact('decode', operation)]
}

/**
 * Whether what is run was computed: the text was decoded, or an unknown text is at the position of a command. Names and
 * versions in a command are not code.
 */
function isComputed({ text, facts }: Value): boolean {
  return facts.some(({ kind }) => kind === 'decode') || (facts.length > 0 && unknownCommand.test(text))
}

const unknownCommand = new RegExp(`(?:^|[;&|(\\n\`]|\\b(?:then|do|else|sudo|exec|eval)\\s)\\s*${unknownPart}`)

/** The shells: a script in an argument, in a file or in the input. */
const shell: Program = (call) => {
  const { args, input, run } = call
  const split = splitArguments(args, '-c -o -O --rcfile --init-file')
  const code = findOption(split, '-c')
  if (code) return runText(code, input, call)
  const [file, ...rest] = split.rest
  const isInput =
    !file || file.text === '-' || file.text === '/dev/stdin' || split.options.some(({ name }) => name === '-s')
  if (!isInput) {
    if (file.text.startsWith('/dev/fd/')) return runText(run.files.read(file), input, call)
    if (run.files.has(file.text)) run.files.runScript(run.files.read(file))
    return runFile(file, rest, input, run)
  }
  if (input.text === '' && input.facts.length === 0) return { ...unknown, made: [session] }
  const output = runText(input, toValue(''), call)
  return { ...dependOn([output, input]), made: [session] }
}

interface Interpreter {
  readonly language: Language
  /** Options that take code, and all that take a value. */
  readonly code: string
  readonly taking: string
}

/** Interpreters of other languages. */
const languages: Readonly<Record<string, Interpreter>> = {
  python: { language: 'python', code: '-c', taking: '-c -m -W -X' },
  node: { language: 'script', code: '-e -p --eval --print', taking: '-e -p --eval --print -r --require --import' },
  deno: { language: 'script', code: 'eval', taking: '' },
  bun: { language: 'script', code: '-e --eval', taking: '-e --eval' },
  perl: { language: 'other', code: '-e -E', taking: '-e -E -M -I' },
  ruby: { language: 'other', code: '-e', taking: '-e -r -I' },
  php: { language: 'other', code: '-r', taking: '-r -d -S -t' },
  lua: { language: 'other', code: '-e', taking: '-e' },
  osascript: { language: 'other', code: '-e', taking: '-e -l' },
}

const interpreter =
  ({ language, code, taking }: Interpreter): Program =>
  ({ program, args, input, run }) => {
    const split = splitArguments(args, taking)
    const texts = split.options.filter(({ name }) => code.split(' ').includes(name)).map(({ value }) => value)
    const inline = program === 'deno' && split.rest[0]?.text === 'eval' ? split.rest.slice(1) : texts
    if (program === 'php' && findOption(split, '-S')) run.fact('listener', 'php -S')
    const module = program.startsWith('python') ? findOption(split, '-m')?.text : undefined
    if (module === 'http.server' || module === 'SimpleHTTPServer') run.fact('listener', module)
    if (inline.length > 0) return runInline(joinValues(inline, '\n'), language, args, input, run)
    const [file, ...rest] = split.rest
    if (module !== undefined) return dependOn([input, ...args])
    if (file && file.text !== '-') return runFile(file, rest, input, run)
    if (input.facts.length > 0) sinkCode(input, run)
    run.showText(input)
    run.runOther(language, input)
    return dependOn([input])
  }

function runInline(code: Value, language: Language, args: readonly Value[], input: Value, run: Call['run']): Value {
  if (code.facts.length > 0 && code.text.startsWith(unknownPart)) sinkCode(code, run)
  run.showText(code)
  const facts = run.runOther(language, code)
  // The program may read its input: `cat file | python -c "... sys.stdin ..."`.
  const readsInput = /std_?in|\bSTDIN\b|<>|\$_\b|open\(0\)|fd\(0|readFileSync\(0/i.test(code.text)
  const sinks = facts.filter(({ kind }) => kind === 'network-send' || kind === 'dynamic-run')
  if (readsInput) for (const sink of sinks) run.record.addFlows(input.facts, sink)
  if (readsInput && /\b(?:exec|eval)\b/.test(code.text) && input.facts.length > 0)
    run.sink('dynamic-run', undefined, [input])
  const output = withFacts(
    dependOn([input, ...args]),
    facts.filter(({ kind }) => kind !== 'network-send'),
  )
  const decoded = decodeInline(code.text)
  return decoded === undefined || !isKnown(code) ? output : { ...output, text: decoded }
}

/** What `print("text")` prints. */
function decodeInline(code: string): string | undefined {
  return /^\s*(?:print|puts|echo|console\.log)[\s(]\s*(["'])([^"'\\]*)\1\s*\)?;?\s*$/.exec(code)?.[2]
}

/** Programs that run the command in their arguments, with their options that take a value. */
const runners: Readonly<Record<string, string>> = {
  sudo: '-u -g -h -p -C -D -R -T -U --user --group',
  doas: '-u -C',
  nohup: '',
  nice: '-n',
  ionice: '-c -n -p',
  exec: '-a',
  command: '',
  builtin: '',
  time: '-f -o',
  setsid: '',
  stdbuf: '-i -o -e',
  busybox: '',
  caffeinate: '-t -w',
  chroot: '',
  watch: '-n --interval',
  unshare: '',
  proot: '',
  torsocks: '',
  proxychains: '-f',
  proxychains4: '-f',
  winpty: '',
}

const runner =
  (taking: string): Program =>
  (call) => {
    const { program, args, input, run } = call
    // Options of the command itself must stay, so only those before it are skipped.
    let at = 0
    while (args[at]?.text.startsWith('-')) at += taking.split(' ').includes(args[at]!.text) ? 2 : 1
    const words = args.slice(at)
    const shells = args.slice(0, at).some(({ text }) => text === '-i' || text === '-s')
    if (words.length === 0 && program === 'sudo' && shells) return shell({ ...call, args: [] })
    if (words.length === 1 && /\s/.test(words[0]!.text) && program === 'watch') return runText(words[0]!, input, call)
    // `exec` without a command only redirects.
    if (words.length === 0) return input
    const skips = program === 'chroot' ? 1 : 0
    return run.runWords(words.slice(skips), input)
  }

/** `env`, which also prints all variables. */
const env: Program = ({ args, input, run }) => {
  let at = 0
  while (args[at] && (args[at]!.text.startsWith('-') || /^\w+=/.test(args[at]!.text))) {
    at += /^-[uCS]$/.test(args[at]!.text) ? 2 : 1
  }
  if (at < args.length) return run.runWords(args.slice(at), input)
  return withFacts(unknown, [run.fact('environment-read')])
}

const timeout: Program = ({ args, input, run }) => {
  const { rest } = splitArguments(args.slice(0, 6), '-s -k --signal --kill-after')
  const first = args.indexOf(rest[0]!)
  return run.runWords(args.slice(first + 1), input)
}

/** `xargs` and `parallel` give each line of the input to a command. */
const xargs: Program = (call) => {
  const { args, input, run } = call
  const taking = '-I -n -P -L -s -d -E -a -i -j --replace --max-args --max-procs --delimiter --arg-file'.split(' ')
  let at = 0
  let mark: string | undefined
  while (args[at]?.text.startsWith('-')) {
    const { text } = args[at]!
    if (text === '-I') mark = args[at + 1]?.text
    else if (text.startsWith('-I')) mark = text.slice(2)
    at += taking.includes(text) ? 2 : 1
  }
  const command = args.slice(at)
  if (call.program === 'parallel') mark ??= '{}'
  if (command.length === 0) return call.program === 'parallel' ? runText(input, toValue(''), call) : input
  const words = command.map((word) => {
    if (!mark || !word.text.includes(mark)) return word
    return withFacts({ ...word, text: word.text.replaceAll(mark, input.text.trim().slice(0, 2000)) }, input.facts)
  })
  const isMarked = words.some((word, index) => word !== command[index])
  const lines = input.text
    .trim()
    .split(/\s+/, 64)
    .map((text) => ({ ...input, text }))
  return run.runWords(isMarked ? words : [...words, ...lines], toValue(''))
}

export const interpreters: Readonly<Record<string, Program>> = {
  ...Object.fromEntries(
    ['sh', 'bash', 'zsh', 'dash', 'ash', 'ksh', 'mksh', 'fish', 'csh', 'tcsh', 'rbash'].map((name) => [name, shell]),
  ),
  ...Object.fromEntries(Object.entries(languages).map(([name, language]) => [name, interpreter(language)])),
  ...Object.fromEntries(['python2', 'python3', 'pypy3', 'py'].map((name) => [name, interpreter(languages.python!)])),
  ...Object.fromEntries(Object.entries(runners).map(([name, taking]) => [name, runner(taking)])),
  nodejs: interpreter(languages.node!),
  env,
  timeout,
  gtimeout: timeout,
  xargs,
  parallel: xargs,
  eval: (call) => runText(joinValues(call.args, ' '), call.input, call),
  source: sourceFile,
  '.': sourceFile,
  su(call) {
    const code = findOption(splitArguments(call.args, '-c --command -s'), '-c', '--command')
    return code ? runText(code, call.input, call) : call.input
  },
  script(call) {
    const code = findOption(splitArguments(call.args, '-c --command'), '-c', '--command')
    return code ? runText(code, call.input, call) : dependOn([call.input])
  },
}

/** Runs a file that the script has written or that exists. */
export function runFile(path: Value, args: readonly Value[], input: Value, run: Call['run']): Value {
  const content = run.files.has(path.text) ? run.files.read(path) : undefined
  if (content && content.facts.length > 0) run.sink('program-run', path.text, [content])
  if (content) run.showText(content)
  return dependOn([input, ...args])
}

function sourceFile(call: Call): Value {
  const { args, input, run } = call
  const [path] = args
  if (!path) return input
  if (/^\/dev\/(?:stdin|fd\/0)$/.test(path.text)) return runText(input, toValue(''), call)
  if (path.text.startsWith('/dev/fd/') || run.files.has(path.text)) return runText(run.files.read(path), input, call)
  return unknown
}

import type { CodeFact } from '../reading.ts'
import type { Call, Program, ProgramRow } from './shell-call.ts'
import type { Shell } from './state.ts'
import { dependOn, empty, findHiding, isEmpty, joinValues, session, unknown, unknownPart, withFacts } from './value.ts'
import type { Value } from './value.ts'
import { hasUnknownCommand, namesProgram } from './shell-words.ts'

/** Runs a text as shell code, and records where the text comes from. */
export function runText(code: Value, input: Value, run: Shell): Value {
  const decoding = findDecoding(code, run)
  run.showText(code, decoding.length > 0 || undefined)
  const from = withFacts(code, decoding)
  const isDecoded = from.facts.some(({ kind }) => kind === 'decode')
  if (isDecoded || (from.facts.length > 0 && hasUnknownCommand(from))) sinkCode(from, run)
  return run.runCode(code, input)
}

/**
 * Records that code is run. A script that was fetched as a whole counts as a program, as many installers run one;
 * commands of a session with another machine, and other code, count as code.
 */
function sinkCode(code: Value, run: Shell): void {
  const isFetched = code.facts.some(({ kind }) => kind === 'network-fetch')
  run.sink(isFetched && !code.made.includes(session) ? 'program-run' : 'dynamic-run', undefined, [code])
}

/** A text that the script computed from others counts as decoded, if the operation hides it or a program's name in it. */
function findDecoding(value: Value, run: Shell): readonly CodeFact[] {
  if (value.facts.some(({ kind }) => kind === 'decode' || kind === 'network-fetch')) return []
  const operation = findHiding(value) ?? value.made.find((each) => each !== session && namesProgram(value.text))
  return operation === undefined || /^\s*(?:set\s|$)/.test(value.text) ? [] : [run.fact('decode', operation)]
}

/** A shell, which runs a script in an argument, in a file or in the input. */
const shell: Program = (call) => {
  const { input, run } = call
  const code = call.option('-c')
  if (code) return runText(code, input, run)
  const [file, ...rest] = call.rest
  if (file && !/^(?:-|\/dev\/stdin)$/.test(file.text) && !call.has('-s')) {
    if (file.text.startsWith('/dev/fd/')) return runText(run.files.read(file), input, run)
    if (run.files.has(file.text)) run.files.runScript(run.files.read(file))
    return runFile(file, rest, input, run)
  }
  if (isEmpty(input)) return { ...unknown, made: [session] }
  return { ...dependOn([runText(input, empty, run), input]), made: [session] }
}

/**
 * Follows, without running it, a script's call of a file: records a program run if the script wrote the file from
 * content with facts. Returns an output that depends on the input and the arguments.
 */
export function runFile(path: Value, args: readonly Value[], input: Value, run: Shell): Value {
  const content = run.files.has(path.text) ? run.files.read(path) : undefined
  if (content && content.facts.length > 0) run.sink('program-run', path.text, [content])
  if (content) run.showText(content)
  return dependOn([input, ...args])
}

/** An interpreter of another language; `code` are the options whose value is code. */
const interpreter =
  (language: 'python' | 'script' | 'other', ...code: string[]): Program =>
  (call) => {
    const { program, args, input, run } = call
    const inline = program === 'deno' && args[0]?.text === 'eval' ? call.rest.slice(1) : call.all(...code)
    const module = language === 'python' ? call.option('-m')?.text : undefined
    if (inline.length > 0) return runInline(joinValues(inline, '\n'), language, call)
    const [file, ...rest] = call.rest
    if (module !== undefined) return dependOn([input, ...args])
    if (file && file.text !== '-') return runFile(file, rest, input, run)
    if (input.facts.length > 0) sinkCode(input, run)
    run.showText(input)
    run.runOther(language, input)
    return dependOn([input])
  }

function runInline(code: Value, language: 'python' | 'script' | 'other', { args, input, run }: Call): Value {
  if (code.facts.length > 0 && code.text.startsWith(unknownPart)) sinkCode(code, run)
  run.showText(code)
  const facts = run.runOther(language, code)
  // The program may read its input: `cat file | python -c "... sys.stdin ..."`.
  if (/std_?in|\bSTDIN\b|<>|\$_\b|open\(0\)|fd\(0|readFileSync\(0/i.test(code.text)) {
    const sinks = facts.filter(({ kind }) => kind === 'network-send' || kind === 'dynamic-run')
    for (const sink of sinks) run.record.addFlows(input.facts, sink)
    if (/\b(?:exec|eval)\b/.test(code.text) && input.facts.length > 0) run.sink('dynamic-run', undefined, [input])
  }
  const found = facts.filter(({ kind }) => kind !== 'network-send')
  return withFacts(dependOn([input, ...args]), found)
}

/** A program that runs the command in its arguments. */
const inner: Program = (call) => {
  const words = call.inner
  if (words.length === 0 && call.program === 'sudo' && / ?-[is]\b/.test(call.line)) return shell(call)
  // `exec` without a command only redirects.
  return words.length === 0 ? call.input : call.run.runWords(words, call.input)
}

/** `env` runs a command, or prints all variables if it has none. */
const env: Program = ({ inner: words, input, run }) => {
  const at = words.findIndex(({ text }) => !/^\w+=/.test(text))
  return at === -1 ? withFacts(unknown, [run.fact('environment-read')]) : run.runWords(words.slice(at), input)
}

const printenv: Program = ({ rest, run }) => {
  if (rest.length === 0) return withFacts(unknown, [run.fact('environment-read')])
  const values = rest.map(({ text }) => run.variables.read(text))
  return joinValues(values, '\n')
}

/** `xargs` and `parallel` give each line of the input to a command. */
const xargs: Program = ({ program, args, inner: command, input, run }) => {
  const at = args.findIndex(({ text }) => text.startsWith('-I'))
  const option = program === 'parallel' ? '{}' : (args[at]?.text.slice(2) ?? '')
  const mark = option || (at === -1 ? undefined : args[at + 1]?.text)
  if (command.length === 0) return program === 'parallel' ? runText(input, empty, run) : input
  const words = command.map((word) => (mark ? fillIn(word, mark, { ...input, text: input.text.trim() }) : word))
  if (words.some((word, index) => word !== command[index])) return run.runWords(words, empty)
  const lines = input.text.trim().split(/\s+/, 64)
  return run.runWords([...words, ...lines.map((text) => ({ ...input, text }))], empty)
}

/** Replaces a mark in a word by the text of a value. */
export function fillIn(word: Value, mark: string, { text, facts }: Value): Value {
  if (!word.text.includes(mark)) return word
  return withFacts({ ...word, text: word.text.replaceAll(mark, text.slice(0, 2000)) }, facts)
}

/** A program, such as `trap`, that runs the text in its first argument or in an option. */
const runsArgument: Program = (call) => {
  const code = call.program === 'trap' ? call.args[0] : call.option('-c', '--command')
  return code && /\s/.test(code.text) ? runText(code, empty, call.run) : dependOn([call.input])
}

const sourceFile: Program = ({ args: [path], input, run }) => {
  if (!path) return input
  if (/^\/dev\/(?:stdin|fd\/0)$/.test(path.text)) return runText(input, empty, run)
  const isRead = path.text.startsWith('/dev/fd/') || run.files.has(path.text)
  return isRead ? runText(run.files.read(path), input, run) : unknown
}

/** Programs that run code, files and other programs. */
export const runners: readonly ProgramRow[] = [
  ['sh bash zsh dash ash ksh', '-c -o -O --rcfile --init-file', shell],
  ['python python2 python3 py', '-c -m -W -X', interpreter('python', '-c')],
  [
    'node nodejs bun deno',
    '-e -p --eval --print -r --require --import',
    interpreter('script', '-e', '-p', '--eval', '--print'),
  ],
  ['perl ruby lua osascript', '-e -E -M -I -l -r', interpreter('other', '-e', '-E')],
  ['php', '-r -d -S -t', interpreter('other', '-r')],
  ['sudo doas', '-u -g -h -p -C -D -R -T -U --user --group', inner],
  ['nohup command builtin time setsid busybox torsocks exec caffeinate', '-a -f -o', inner],
  ['nice ionice stdbuf proxychains proxychains4', '-n -c -p -i -o -e -f', inner],
  ['watch', '-n --interval', (call) => runText(joinValues(call.inner, ' '), call.input, call.run)],
  ['timeout gtimeout', '-s -k --signal --kill-after', (call) => call.run.runWords(call.inner.slice(1), call.input)],
  ['env', '-u -C -S', env],
  ['printenv', '', printenv],
  ['xargs parallel', '-I -n -P -L -s -d -E -a -j --max-args --max-procs --delimiter --arg-file', xargs],
  ['eval', '', ({ args, input, run }) => runText(joinValues(args, ' '), input, run)],
  ['source .', '', sourceFile],
  ['su script trap', '-c --command -s', runsArgument],
  ['history', '', history],
]

function history({ args, run }: Call): Value {
  return args.some(({ text }) => /^-[cdw]/.test(text))
    ? empty
    : withFacts(unknown, [run.fact('data-collected', 'history')])
}

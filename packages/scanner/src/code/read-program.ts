import { Evaluation } from './evaluate.ts'
import type { Library } from './library.ts'
import { javascript, python } from './languages/libraries.ts'
import { lowerJavaScript } from './languages/lower-javascript.ts'
import { lowerPython } from './languages/lower-python.ts'
import { parseCode, type Grammar } from './parse.ts'
import type { CodeReading } from './reading.ts'
import { Recorder } from './recorder.ts'
import type { CodeLanguage } from './parts.ts'
import { readCommand, readShellProgram } from './shell/run.ts'
import type { Code } from './syntax.ts'

/** Reads a program in Python: the facts about it, and the flows of values between them. Never throws. */
export const readPython = (text: string): CodeReading => readWithGrammar(text, 'python', python)

/** As {@link readPython}, for JavaScript and TypeScript; `isJsx` if the text contains JSX. */
export const readJavaScript = (text: string, isJsx = false): CodeReading =>
  readWithGrammar(text, isJsx ? 'jsx' : 'script', javascript)

/** Reads code in any supported language, with the code in other languages that it runs. */
export function readCodeText(language: CodeLanguage, text: string): CodeReading {
  if (language === 'python') return readPython(text)
  return language === 'shell' ? readShellProgram(text, readCodeText) : readJavaScript(text, language === 'jsx')
}

function readWithGrammar(text: string, grammar: Grammar, library: Library): CodeReading {
  const recorder = new Recorder()
  const parse = (written: string): Code => {
    const { tree, text: given, cut } = parseCode(grammar, written)
    if (cut !== undefined) recorder.cut ??= cut
    return grammar === 'python' ? lowerPython(tree, given) : lowerJavaScript(tree, given)
  }
  try {
    new Evaluation(library, recorder, { parse: (_, inner) => parse(inner), readCommand }).run(parse(text))
  } catch {
    recorder.cut ??= 'A part of the code could not be read.'
  }
  return recorder
}

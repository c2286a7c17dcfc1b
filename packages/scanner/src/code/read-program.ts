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

/**
 * Reads code, with the code in other languages that it runs: the facts about it, and the flows of values between them.
 * Never throws.
 */
export function readCodeText(language: CodeLanguage, text: string): CodeReading {
  if (language === 'shell') return readShellProgram(text, readCodeText)
  return readWithGrammar(text, language, language === 'python' ? python : javascript)
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

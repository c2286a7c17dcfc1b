import type { ShellRun } from './shell-run.ts'
import type { Redirection } from './shell-syntax.ts'
import { empty, toValue, type Value } from './shell-value.ts'
import { expandParts, expandText } from './shell-words.ts'

/** The input of a command after its redirections. */
export function applyInput(redirects: readonly Redirection[], input: Value, run: ShellRun): Value {
  let value = input
  for (const redirect of redirects) {
    if (redirect.type === 'HereDoc') {
      const { parts, text } = redirect.body
      value = parts ? expandParts(parts, run) : toValue(text)
    } else if (redirect.type === 'HereString') value = expandText(redirect.target, run)
    else if (redirect.operator === '<') value = run.files.read(expandText(redirect.target, run))
    else if (redirect.operator === '<&') value = run.files.readDescriptor(redirect.target?.value ?? '') ?? value
    else if (redirect.operator === '<>') {
      run.files.openDescriptor(toDescriptor(redirect, 0), expandText(redirect.target, run))
    }
  }
  return value
}

/** Writes the output of a command to the files of its redirections. Returns what is left for the next command. */
export function applyOutput(redirects: readonly Redirection[], output: Value, run: ShellRun): Value {
  let left = output
  for (const redirect of redirects) {
    if (redirect.type !== 'Redirect' || redirect.operator.startsWith('<')) continue
    const descriptor = toDescriptor(redirect, 1)
    const target = expandText(redirect.target, run)
    if (redirect.operator === '>&' && /^(?:\d+|-)$/.test(target.text)) {
      if (descriptor === '1' && run.files.writeDescriptor(target.text, left)) left = empty
      else if (descriptor === '1' && target.text === '2') left = empty
    } else if (descriptor === '1' || redirect.operator.startsWith('&')) {
      run.files.write(target, left, redirect.operator.endsWith('>>'))
      left = empty
    } else if (descriptor !== '2') run.files.openDescriptor(descriptor, target)
  }
  return left
}

function toDescriptor({ descriptor }: Extract<Redirection, { type: 'Redirect' }>, otherwise: number): string {
  if (!descriptor) return String(otherwise)
  return descriptor.type === 'FileDescriptor' ? String(descriptor.value) : descriptor.name
}

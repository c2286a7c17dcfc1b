import { styleText } from 'node:util'
import type { Environment, OutputStream } from './io.ts'

const formats = { heading: 'bold', good: 'green', warning: 'yellow', bad: 'red', faint: 'dim' } as const

/** A line of output with its meaning, which a terminal shows as a colour. */
export type Line = string | { readonly text: string; readonly style: keyof typeof formats }

/** The style of each scan verdict. */
export const verdictStyles = { safe: 'good', caution: 'warning', dangerous: 'bad' } as const

/** A line of text in a style. */
export function styled(style: keyof typeof formats, text: string): Line {
  return { text, style }
}

/** Whether a stream shows colours: a terminal that supports them, unless NO_COLOR is set. */
export function hasColours(stream: OutputStream, env: Environment): boolean {
  return stream.isTTY === true && (stream.getColorDepth?.(env) ?? 1) > 1
}

/** Renders lines for a stream: in colour if the stream shows colours. `clean` removes terminal control characters. */
export function createRender(stream: OutputStream, env: Environment, clean: (text: string) => string) {
  const isColoured = hasColours(stream, env)
  return (line: Line): string => {
    if (typeof line === 'string') return clean(line)
    const text = clean(line.text)
    return isColoured ? styleText(formats[line.style], text, { validateStream: false }) : text
  }
}

import { styleText } from 'node:util'
import type { Environment, OutputStream } from './io.ts'

const formats = { heading: 'bold', good: 'green', warning: 'yellow', bad: 'red', faint: 'dim' } as const

/** A line of output, with what it means: a terminal shows that by colour. */
export type Line = string | { readonly text: string; readonly style: keyof typeof formats }

/** What a verdict of the scanner is shown as. */
export const verdictStyles = { safe: 'good', caution: 'warning', dangerous: 'bad' } as const

/** A line whose text is shown in a style. */
export function styled(style: keyof typeof formats, text: string): Line {
  return { text, style }
}

/** Renders lines for a stream: in colour on a terminal, unless NO_COLOR is set. `clean` takes out what a terminal would obey. */
export function createRender(stream: OutputStream, env: Environment, clean: (text: string) => string) {
  const isColoured = stream.isTTY === true && (stream.getColorDepth?.(env) ?? 1) > 1
  return (line: Line): string => {
    if (typeof line === 'string') return clean(line)
    const text = clean(line.text)
    return isColoured ? styleText(formats[line.style], text, { validateStream: false }) : text
  }
}

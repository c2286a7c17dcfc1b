import { joinPath } from './text-methods.ts'
import { joinMade, mixValues, textOf, toTextValue, type Value } from './values.ts'

const numeric: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '//': (a, b) => Math.floor(a / b),
  '%': (a, b) => (b === 0 ? 0 : a % b),
  '**': (a, b) => a ** b,
  '^': (a, b) => a ^ b,
  '&': (a, b) => a & b,
  '|': (a, b) => a | b,
  '<<': (a, b) => a << b,
  '>>': (a, b) => a >> b,
  '<': (a, b) => Number(a < b),
  '>': (a, b) => Number(a > b),
  '<=': (a, b) => Number(a <= b),
  '>=': (a, b) => Number(a >= b),
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
}

/** The result of an operator. */
export function applyOperator(operator: string, parts: readonly Value[], language: 'python' | 'script'): Value {
  const [first, second] = parts
  if (!second) return operateOnOne(operator, first!)
  if (operator === '+' && parts.some(isTextual)) return toTextValue(parts.map(textOf).join(''), parts, 'concatenation')
  if (operator === '+' && parts.every(({ items }) => items)) {
    return { items: parts.flatMap(({ items }) => items!), facts: [], made: [] }
  }
  if (language === 'python') {
    if (operator === '/' && parts.some(isTextual)) return joinPath(parts)
    if (operator === '%' && first!.text !== undefined && first!.number === undefined)
      return formatPercent(first!, second)
    if (operator === '*' && first!.text !== undefined && second.number !== undefined && second.number < 1000) {
      return toTextValue(first!.text.repeat(Math.max(0, second.number)), [first!])
    }
  }
  // Reduces `===`, `!==` and `>>>` of JavaScript to `==`, `!=` and `>>`.
  const apply = numeric[operator.replace(/^(.[=>])[=>]$/, '$1')]
  if (!apply || parts.some(({ number }) => number === undefined)) return mixValues(parts)
  const number = parts.slice(1).reduce((sum, part) => apply(sum, part.number!), first!.number!)
  return { number, facts: mixValues(parts).facts, made: joinMade(operator === '^' ? ['xor'] : [], parts) }
}

const isTextual = ({ text }: Value) => text !== undefined

function operateOnOne(operator: string, value: Value): Value {
  const { number } = value
  if (number === undefined)
    return operator === '!' || operator === 'not' || operator === 'typeof' ? mixValues([]) : mixValues([value])
  const result = { '-': -number, '~': ~number, '!': Number(!number), not: Number(!number) }[operator]
  return { number: result ?? number, facts: value.facts, made: value.made }
}

/** `'%s' % value` */
function formatPercent(format: Value, value: Value): Value {
  const values = value.items ?? [value]
  let next = 0
  const text = format.text!.replace(
    /%(?:\((\w{1,40})\))?[-+\d.]{0,8}([sdrxif%])/g,
    (_, name: string | undefined, kind: string) => {
      if (kind === '%') return '%'
      return textOf(name === undefined ? values[next++] : value.fields?.get(name))
    },
  )
  return toTextValue(text, [format, ...values], 'concatenation')
}

import type { CodeFact, CodeReading } from '../../packages/scanner/src/code/reading.ts'

const show = ({ kind, value }: CodeFact) => (value ? `${kind} ${value.replaceAll('\uFFFC', '?')}` : kind)

/** The flows of a reading as text: `secret-read ~/.netrc → network-send https://e.example/`. Unknown parts are `?`. */
export function listFlows({ flows }: CodeReading): string[] {
  return flows.map(({ from, to }) => `${show(from)} → ${show(to)}`)
}

/** The facts of a reading as text. */
export function listFacts({ facts }: CodeReading): string[] {
  return facts.map(show)
}

/** Examples of the form `fact & fact ⟸ program`. */
export function toExamples(examples: readonly string[]): { readonly program: string; readonly found: string[] }[] {
  return examples.map((example) => {
    const [found, program] = example.split(' ⟸ ')
    return { program: program!, found: found!.split(' & ') }
  })
}

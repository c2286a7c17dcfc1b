import { verdicts } from '@skillstead/protocol'

/** An option of the command line. `value` is the placeholder of its value in the help; flags have none. */
export interface ScanOption {
  readonly value?: string
  readonly help: string
  readonly choices?: readonly string[]
}

/** The options of a scan besides `--json`, which every command has. */
export const scanOptions = {
  sarif: { value: 'FILE', help: 'write SARIF 2.1.0 for code scanning to a file, or with - to standard output' },
  'fail-on': {
    value: 'VERDICT',
    help: 'exit with 1 for this verdict or a worse one: caution or dangerous',
    choices: verdicts.filter((verdict) => verdict !== 'safe'),
  },
  baseline: { value: 'FILE', help: 'leave out the known findings that a file lists with reasons' },
  'write-baseline': { value: 'FILE', help: 'write all findings to such a file; needs --reason' },
  reason: { value: 'TEXT', help: 'why the findings of --write-baseline are acceptable' },
  rules: { value: 'FILE', help: 'apply the rules of a signed bundle too; needs --rules-key' },
  'rules-key': { value: 'KEY', help: 'the verifier key of the bundle of --rules' },
  enclosing: { help: 'scan the skills that contain the given files, and ignore files outside of skills' },
  watch: { help: 'scan changed skills again until interrupted' },
} as const satisfies Record<string, ScanOption>

type Options = typeof scanOptions

/** A scan as requested on a command line, with the values of its options by their names. */
export type ScanRequest = {
  readonly [name in keyof Options]?: Options[name] extends { readonly value: string } ? string : boolean
} & { readonly places: readonly string[]; readonly json: boolean }

/** The request of a command line, whose options were parsed as {@link scanOptions} declares them. */
export function toScanRequest(places: readonly string[], json: boolean, options: object): ScanRequest {
  return { ...options, places, json }
}

/** Why a request is invalid, as a sentence; undefined for a valid one. */
export function findRequestProblem(request: ScanRequest): string | undefined {
  const { places, json, sarif, baseline, reason, rules, enclosing, watch } = request
  const { 'fail-on': failOn, 'write-baseline': writeBaseline, 'rules-key': rulesKey } = request
  const problems: readonly (readonly [isWrong: unknown, problem: string])[] = [
    [places.length === 0, 'PATH is missing.'],
    [json && sarif === '-', '--json and --sarif - both print to standard output. Use one of them, or --sarif FILE.'],
    [
      watch && (sarif ?? failOn ?? writeBaseline),
      '--watch does not end, so it cannot be used with --sarif, --fail-on or --write-baseline.',
    ],
    [
      watch && (enclosing || places.includes('-')),
      '--watch needs folders or files, not standard input or --enclosing.',
    ],
    [
      (writeBaseline === undefined) !== (reason === undefined),
      '--write-baseline needs --reason TEXT, and --reason needs --write-baseline FILE.',
    ],
    [
      (rules === undefined) !== (rulesKey === undefined),
      '--rules needs --rules-key KEY, and --rules-key needs --rules FILE.',
    ],
    [reason?.trim() === '', 'The reason is empty.'],
    [writeBaseline && baseline, '--write-baseline writes all findings; it cannot be used with --baseline.'],
  ]
  return problems.find(([isWrong]) => isWrong)?.[1]
}

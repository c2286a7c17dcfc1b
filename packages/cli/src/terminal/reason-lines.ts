import { toOneLine, type PathReason, type Warning } from '@skillstead/protocol'

/** What became of the entries of a package. */
interface Reasons {
  readonly omitted: readonly PathReason[]
  readonly changed: readonly PathReason[]
}

/** One line for each entry of a package that was omitted or changed. */
export function toReasonLines({ omitted, changed }: Reasons): string[] {
  return [...toLines('omitted', omitted), ...toLines('changed', changed)]
}

function toLines(what: string, list: readonly PathReason[]): string[] {
  return list.map(({ path, reason }) => `  ${what}${path && ` ${toOneLine(path)}`}: ${toOneLine(reason)}`)
}

/** One line for a warning of a registry. */
export function toWarningLine({ code, message, line }: Warning): string {
  return `  ${code}${line === undefined ? '' : ` (line ${line})`}: ${toOneLine(message)}`
}

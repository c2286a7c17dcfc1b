import { toFields, toOneLine, type Recalled } from '@skillstead/protocol'

/** The maximum lengths of the texts of a recall in characters, as registries accept them. A longer text is cut. */
const lengthsMax = { range: 200, reason: 500, at: 40 }

/**
 * The recall in the response of a registry or in a file, which may contain anything: a recall without readable texts is
 * still a recall. Undefined for an empty value.
 */
export function readRecalled(value: unknown): Recalled | undefined {
  if (!value) return undefined
  const { range, reason, at } = toFields(value)
  return {
    range: readText(range, lengthsMax.range, 'no range given'),
    reason: readText(reason, lengthsMax.reason, 'no reason given'),
    at: readText(at, lengthsMax.at, ''),
  }
}

function readText(value: unknown, lengthMax: number, missing: string): string {
  return typeof value === 'string' ? toOneLine(value.slice(0, lengthMax)) : missing
}

/** A recall as the end of a sentence without its period. */
export function toRecallText({ range, reason }: Recalled): string {
  return toOneLine(`recalled (${range}): ${reason}`)
}

/** A recall as the end of a sentence, with its period. */
export function endWithRecall(recalled: Recalled): string {
  const text = toRecallText(recalled)
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** The highest recalled version of a list that a registry sends in order, highest first; undefined if there is none. */
export function findNewestRecall(versions: readonly { readonly version: string; readonly recalled?: unknown }[]) {
  return versions.flatMap(({ version, recalled: value }) => {
    const recalled = readRecalled(value)
    return recalled ? [{ version, recalled }] : []
  })[0]
}

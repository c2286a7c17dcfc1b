import { toOneLine, type Change, verdictWords } from '@skillstead/protocol'

/** What a version changes, one finding per line, without its verdict; empty without findings. */
export function toChangeLines({ findings }: Change): string[] {
  return findings.map(({ signal, title, items }) => toOneLine(`${signal}: ${title}: ${items.join('; ')}`))
}

/** The verdict on what a version changes, in a phrase. */
export function toChangeText({ verdict, since, patch }: Change): string {
  return `${verdictWords[verdict]}, compared with ${since}${patch ? ', as a patch' : ''}`
}

import type { OutgoingOptions } from '@skillstead/core'
import { findRequestProblem, runScan, scanOptions, toScanRequest, type Sample } from '@skillstead/scanner/command'
import { UsageError, command } from '../../command/command.ts'
import { outgoingOptions, toOutgoing } from '../../registry/outgoing-options.ts'

export const commands = {
  scan: command({
    description:
      'Scan skills for dangerous content: folders, a SKILL.md or another file, .zip, .skill, .tar.gz, .ndjson[.gz], - for ' +
      'standard input, or URLs. Needs no registry, and no network for local files.',
    words: ['PATH|URL|-...'],
    options: { ...scanOptions, ...outgoingOptions },
    async run(given, { json }) {
      const request = toScanRequest(given.words, json, given.options)
      const problem = findRequestProblem(request)
      if (problem !== undefined) throw new UsageError(problem)
      const outgoing = await toOutgoing(given)
      return runScan(request, given.io, (place) => (isUrl(place) ? fetchSample(place, outgoing) : undefined))
    },
    // Each skill is printed as soon as it is scanned: there may be very many.
    printsItself: true,
    hasFailed: ({ failing, unreadable }) => failing > 0 || unreadable > 0,
  }),
}

/** Whether a place is a URL instead of a path. */
export function isUrl(place: string): boolean {
  return /^https?:\/\//i.test(place)
}

async function* fetchSample(url: string, outgoing: OutgoingOptions): AsyncGenerator<Sample> {
  const { readExternalText } = await import('@skillstead/core/internal')
  const { address, text } = await readExternalText(url, outgoing)
  yield { id: address, files: [{ path: 'SKILL.md', bytes: Buffer.from(text) }], at: { container: address } }
}

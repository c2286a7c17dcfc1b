import { createBundle, inspectBundle, toCreateCommand, verifyBundle } from '@skillstead/mirror'
import { command, flag, textOption } from '../../command/command.ts'
import { wholeNumberOption } from '../../command/values.ts'
import { toBundleLines } from '../../mirror/mirror-lines.ts'
import { filterOptions, toFilterSettings } from '../../mirror/options.ts'
import { showProgress, type ProgressLine } from '../../mirror/progress.ts'
import { storeOptions, withRegistry } from '../../registry/place.ts'
import { toSize } from '../../terminal/output.ts'
import { readGivenKeys } from '../../verify/read-keys.ts'

export const commands = {
  'bundle create': command({
    description:
      'Export everything a registry has published into one signed file, for a registry without a network connection.',
    words: ['FILE'],
    options: {
      since: {
        value: 'N',
        help: 'the last log position that the other registry has imported; the bundle starts after it. Default: everything',
      },
      upstream: {
        value: 'NAME',
        help: "export the log of that upstream, with the upstream's own proof, instead of the log of this registry",
      },
      force: { help: 'replace an existing file' },
      ...filterOptions,
      ...storeOptions,
    },
    async run(given, output) {
      const [file] = given.words
      const advice = 'Use the whole number that `bundle import` prints.'
      const since = wholeNumberOption(given, 'since', 'position', [0, Number.MAX_SAFE_INTEGER], advice)
      const [filters, signal] = [toFilterSettings(given), given.io.interruption()]
      const upstream = textOption(given, 'upstream')
      const options = { since, filters, upstream, overwrite: flag(given, 'force'), signal }
      const { header, size, digest, durationMs } = await showProgress(output, (report) =>
        withRegistry(given, (registry) =>
          createBundle(registry, file, { ...options, onProgress: reportFile(file, report) }),
        ),
      )
      const next = toCreateCommand({ since: header.until, upstream })
      return { file, ...header, size, digest, durationMs: Math.round(durationMs), next }
    },
    show: ({ file, size, digest, next, ...header }) => [
      `Wrote ${file}, ${toSize(size)}.`,
      ...toBundleLines(header),
      `  file     ${digest}`,
      `Create the next bundle with: ${next}`,
    ],
  }),
  'bundle inspect': command({
    description: 'Show the header of a bundle. Nothing is verified; use `bundle verify` for that.',
    words: ['FILE'],
    options: {},
    async run(given) {
      const [file] = given.words
      const { size, header } = await inspectBundle(file)
      return { file, size, ...header }
    },
    show: ({ file, size, ...header }) => [`${file}, ${toSize(size)}, not verified.`, ...toBundleLines(header)],
  }),
  'bundle verify': command({
    description: 'Verify that a bundle is complete and, with --key, who signed it. Needs no registry and no network.',
    words: ['FILE'],
    options: {
      key: {
        value: 'VKEY',
        help: 'the public key of the node that signed the log, or a file of keys, with the key of the mirror that made the bundle',
      },
    },
    async run(given, output) {
      const [file] = given.words
      const key = textOption(given, 'key')
      const keys = key === undefined ? undefined : readGivenKeys(key)
      const verified = await showProgress(output, (report) =>
        verifyBundle(file, { keys, onProgress: reportFile(file, report) }),
      )
      const { header, signers, isTrusted, makers, isMakerTrusted, signedAt } = verified
      const toIds = (all: typeof signers) => all.map(({ name, hash }) => `${name}+${hash}`)
      const [signedBy, madeBy] = [toIds(signers), toIds(makers)]
      const at = signedAt === undefined ? null : new Date(signedAt).toISOString()
      return { file, signedBy, trusted: isTrusted, madeBy, makerTrusted: isMakerTrusted, signedAt: at, ...header }
    },
    show: ({ file, signedBy, trusted, madeBy, makerTrusted, signedAt, ...header }) => [
      `${file} is complete: its ${header.until - header.since} entries lead to the root hash that ${header.origin} signed.`,
      trusted
        ? `Signed by the given key ${signedBy.join(', ')}.`
        : `Signed by ${signedBy.join(', ')}, a key from the bundle itself. Pass the key that you know with --key to be sure.`,
      ...(madeBy.length > 0 && trusted && !makerTrusted
        ? [`Made by ${madeBy.join(', ')}, whose key was not given: entries that it left out cannot be detected.`]
        : []),
      ...toBundleLines(header),
      ...(signedAt === null ? [] : [`  newest   ${signedAt}`]),
    ],
  }),
}

function reportFile(file: string, report: ProgressLine['report']) {
  return (progress: { done: number; total: number }) => report({ upstream: file, phase: 'listing', ...progress })
}

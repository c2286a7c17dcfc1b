import { createBundle, inspectBundle, toCreateCommand, verifyBundle, type BundleHeader } from '@skillstead/mirror'
import { UsageError, flag, text, type Command } from '../command.ts'
import { filterOptions, toFilters } from '../mirror/options.ts'
import { createProgressLine } from '../mirror/progress.ts'
import { storeOptions, withRegistry } from '../place.ts'
import { toBundleLines, toSize } from '../mirror/bundle-lines.ts'
import { readGivenKeys } from '../verify/given-keys.ts'

interface Created extends BundleHeader {
  readonly file: string
  /** Of the file. */
  readonly size: number
  readonly digest: string
  readonly durationMs: number
  /** The command for what comes after it. */
  readonly next: string
}

/** `skillstead bundle create FILE`. */
export const create: Command<Created> = {
  summary: 'Writes what a registry has published into one signed file, for another one that no network reaches.',
  words: ['FILE'],
  options: {
    since: {
      value: 'N',
      help: 'only what came after this position: where the other registry is; all unless it is said',
    },
    upstream: {
      value: 'NAME',
      help: "what this registry has of that upstream, with the upstream's own proof, instead of its own log",
    },
    force: { help: 'replace a file of that name' },
    ...filterOptions,
    ...storeOptions,
  },
  async run(given, output) {
    const [file] = given.words as [string]
    const [since, filters, signal] = [toPosition(text(given, 'since')), toFilters(given), given.io.interruption()]
    const line = createProgressLine(output)
    const onProgress = (progress: { done: number; total: number }) =>
      line.tell({ upstream: file, phase: 'listing', ...progress })
    try {
      return await withRegistry(given, async (registry) => {
        const upstream = text(given, 'upstream')
        const options = { since, filters, upstream, overwrite: flag(given, 'force'), signal, onProgress }
        const { header, size, digest, durationMs } = await createBundle(registry, file, options)
        const next = toCreateCommand({ since: header.until, upstream })
        return { file, ...header, size, digest, durationMs: Math.round(durationMs), next }
      })
    } finally {
      line.end()
    }
  },
  show: ({ file, size, digest, next, ...header }) => [
    `Wrote ${file}, ${toSize(size)}.`,
    ...toBundleLines(header),
    `  file     ${digest}`,
    `The next one goes on with: ${next}`,
  ],
}

/** `skillstead bundle inspect FILE`. */
export const inspect: Command<{ file: string; size: number } & BundleHeader> = {
  summary: 'Shows what a bundle says of itself. None of it is checked; `bundle verify` checks all of it.',
  words: ['FILE'],
  options: {},
  async run(given) {
    const [file] = given.words as [string]
    const { size, header } = await inspectBundle(file)
    return { file, size, ...header }
  },
  show: ({ file, size, ...header }) => [`${file}, ${toSize(size)}, not verified.`, ...toBundleLines(header)],
}

interface Verified extends BundleHeader {
  readonly file: string
  /** The keys of the node whose log it is, and whether they are ones that were given. */
  readonly signedBy: readonly string[]
  readonly trusted: boolean
  /** Those of the mirror that wrote it, where the node itself did not. */
  readonly madeBy: readonly string[]
  readonly makerTrusted: boolean
  readonly signedAt: string | null
}

/** `skillstead bundle verify FILE`. */
export const verifyFile: Command<Verified> = {
  summary: 'Checks that a bundle is whole, and with --key who made it. Needs no registry and no network.',
  words: ['FILE'],
  options: {
    key: {
      value: 'VKEY',
      help: 'the public key of the node whose log it is, or a file of keys: that of the mirror that made it as well',
    },
  },
  async run(given, output) {
    const [file] = given.words as [string]
    const key = text(given, 'key')
    const line = createProgressLine(output)
    const onProgress = (progress: { done: number; total: number }) =>
      line.tell({ upstream: file, phase: 'listing', ...progress })
    try {
      const keys = key === undefined ? undefined : readGivenKeys(key)
      const { header, signers, isTrusted, makers, isMakerTrusted, signedAt } = await verifyBundle(file, {
        keys,
        onProgress,
      })
      const [signedBy, madeBy] = [signers, makers].map((all) => all.map(({ name, hash }) => `${name}+${hash}`)) as [
        string[],
        string[],
      ]
      const at = signedAt === undefined ? null : new Date(signedAt).toISOString()
      return { file, signedBy, trusted: isTrusted, madeBy, makerTrusted: isMakerTrusted, signedAt: at, ...header }
    } finally {
      line.end()
    }
  },
  show: ({ file, signedBy, trusted, madeBy, makerTrusted, signedAt, ...header }) => [
    `${file} is whole: its ${header.until - header.since} entries lead to the root that ${header.origin} signed.`,
    trusted
      ? `Signed by ${signedBy.join(', ')}, as given.`
      : `Signed by ${signedBy.join(', ')}, which it names itself: give the key that you know with --key to be sure.`,
    ...(madeBy.length > 0 && trusted && !makerTrusted
      ? [`Made by ${madeBy.join(', ')}, whose key was not given: what it left out, it alone knows.`]
      : []),
    ...toBundleLines(header),
    ...(signedAt === null ? [] : [`  newest   ${signedAt}`]),
  ],
}

function toPosition(written: string | undefined): number | undefined {
  if (written === undefined) return undefined
  const position = Number(written)
  if (/^\d{1,15}$/.test(written)) return position
  throw new UsageError(`'${written}' is no position: a whole number is needed, as \`bundle import\` prints it.`)
}

import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { toOneLine, toTimestamp } from '@skillstead/protocol'
import type { getRules } from '@skillstead/core/internal'
import { UsageError, command, textOption, type Arguments } from '../../command/command.ts'
import { readSecretFile } from '../../command/values.ts'
import { writeWhole } from '../../files/write-whole.ts'
import { outgoingOptions, toOutgoing } from '../../registry/outgoing-options.ts'
import { storeOptions, withRegistry } from '../../registry/place.ts'
import { readGivenKeys } from '../../verify/read-keys.ts'
import { isUrl } from '../write/scan.ts'

const keyOption = {
  key: { value: 'VKEY', help: 'the verifier key that must have signed the bundle, or a file of keys' },
}

export const commands = {
  'rules key': command({
    description: 'Create a signing key for rules in a file that only you can read, and print its verifier key.',
    words: ['NAME', 'FILE'],
    async run(given) {
      const [name, file] = given.words
      const { isNoteName } = await import('@skillstead/core/internal')
      if (!isNoteName(name))
        throw new UsageError(`'${toOneLine(name)}' is not a key name. Use a name without spaces and plus signs.`)
      const { createSigningPair } = await import('@skillstead/scanner/bundle')
      const { signingKey, verifierKey } = createSigningPair(name)
      // An existing file is never replaced: its key would be lost.
      writeFileSync(file, `${signingKey}\n`, { mode: 0o600, flag: 'wx' })
      return { key: verifierKey, file }
    },
    show: ({ key }) => [key],
  }),
  'rules sign': command({
    description: 'Check the rules in a JSON file, and sign them as a bundle.',
    words: ['RULES', 'BUNDLE'],
    options: { 'key-file': { value: 'FILE', help: 'the signing key of `rules key`' } },
    async run(given) {
      const [rules, file] = given.words
      const keyFile = textOption(given, 'key-file')
      if (keyFile === undefined) throw new UsageError('Pass the signing key with --key-file FILE.')
      const key = readSecretFile(keyFile, 'signing key')
      const { signBundle } = await import('@skillstead/scanner/bundle')
      writeWhole(file, await signBundle(readFileSync(rules, 'utf8'), key))
      return { file }
    },
    show: ({ file }) => [`Signed ${file}.`],
  }),
  'rules verify': command({
    description: 'Verify a bundle of rules: its signature, its rules and their examples. Needs no registry.',
    words: ['BUNDLE'],
    options: keyOption,
    async run(given) {
      const [file] = given.words
      const { verifyBundle } = await import('@skillstead/scanner/bundle')
      const { release, date, signers, rules } = await verifyBundle(readFileSync(file, 'utf8'), readTrustedKeys(given))
      return { release, date, signers, rules: rules.map(({ id, title }) => ({ id, title })) }
    },
    show: ({ rules, ...bundle }) => [toBundleLine(bundle), ...rules.map(({ id, title }) => `  ${id}  ${title}`)],
  }),
  'rules follow': command({
    description:
      'Install the bundle of rules at a URL or in a file, and check it for a newer release every hour. A URL without a path is that of a node.',
    words: ['URL|FILE'],
    options: { ...keyOption, ...outgoingOptions, ...storeOptions },
    async run(given) {
      const [place] = given.words
      const [keys, outgoing] = [readTrustedKeys(given), await toOutgoing(given)]
      const source = isUrl(place) ? place : resolve(place)
      const { followRules, partsOf } = await import('@skillstead/core/internal')
      return withRegistry(
        given,
        async (registry) => toShownBundle(await followRules(partsOf(registry), { source, keys })),
        {
          outgoing,
        },
      )
    },
    show: toRulesLines,
  }),
  'rules update': command({
    description: 'Check the source of the installed bundle of rules now, and install a newer release.',
    options: { ...outgoingOptions, ...storeOptions },
    async run(given) {
      const outgoing = await toOutgoing(given)
      const { partsOf, updateRules } = await import('@skillstead/core/internal')
      return withRegistry(given, async (registry) => toShownBundle(await updateRules(partsOf(registry))), { outgoing })
    },
    show: toRulesLines,
  }),
  'rules show': command({
    description: 'Show the installed bundle of rules and its source.',
    options: storeOptions,
    async run(given) {
      const { getRules, partsOf } = await import('@skillstead/core/internal')
      return withRegistry(given, async (registry) => toShownBundle(await getRules(partsOf(registry))))
    },
    show: toRulesLines,
  }),
  'rules remove': command({
    description: 'Remove the installed bundle of rules and stop following its source. The built-in rules remain.',
    options: storeOptions,
    async run(given) {
      const { partsOf, removeRules } = await import('@skillstead/core/internal')
      const { source } = await withRegistry(given, (registry) => removeRules(partsOf(registry)))
      return { removed: source }
    },
    show: ({ removed }) => [`Removed the rules of ${toOneLine(removed)}.`],
  }),
}

function readTrustedKeys(given: Arguments): string[] {
  const key = textOption(given, 'key')
  if (key === undefined) throw new UsageError('Pass the verifier key of the bundle with --key VKEY.')
  return readGivenKeys(key)
}

type Stored = Awaited<ReturnType<typeof getRules>>

function toShownBundle({ source, keys, checkedAt, error, bundle: { release, date, signers } }: Stored) {
  return { source, keys, release, date, signers, checkedAt: toTimestamp(checkedAt), error }
}

function toRulesLines({ source, checkedAt, error, ...bundle }: ReturnType<typeof toShownBundle>): string[] {
  return [
    toBundleLine(bundle),
    `  source   ${toOneLine(source)}`,
    `  checked  ${checkedAt}`,
    ...(error === null ? [] : [`  failed   ${toOneLine(error)}`]),
  ]
}

function toBundleLine({ release, date, signers }: Pick<Stored['bundle'], 'release' | 'date' | 'signers'>): string {
  return `Release ${release} of ${date}, signed by ${signers.join(', ')}`
}

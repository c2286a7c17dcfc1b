import { UsageError, command, flag, textOption } from '../../command/command.ts'
import { findUrl, placeOptions, storeOptions, withApi, withRegistry } from '../../registry/place.ts'
import { readNodeKeys } from '../../verify/node.ts'
import { keepKnownKeys, knownKeysFile } from '../../verify/read-keys.ts'

export const commands = {
  // Standard output has only the keys, so that the output can be saved as a file for `verify --key`.
  key: command({
    description:
      'Print the public key that verifies the records and checkpoints of a node; two keys during a rotation.',
    options: {
      pin: { help: 'with --url: trust this key from now on and replace the pinned one' },
      ...placeOptions,
    },
    async run(given, output) {
      const url = findUrl(given)
      if (flag(given, 'pin') && url === undefined)
        throw new UsageError('--pin needs the URL of the node. Pass --url URL.')
      const keys = await withApi(given, readNodeKeys)
      if (flag(given, 'pin')) {
        const file = knownKeysFile(given.io.env)
        keepKnownKeys(file, url!, { keys, since: new Date().toISOString() })
        output.say(`Pinned in ${file}.`)
      }
      return { keys }
    },
    show: ({ keys }) => keys,
  }),
  'key rotate': command({
    description:
      "Replace a node's signing key. The previous key also signs during the overlap, so that clients can change to the new one.",
    options: {
      overlap: { value: 'DAYS', help: 'the number of days for which both keys sign. Default: 30' },
      ...storeOptions,
    },
    async run(given) {
      const overlapDays = toDays(textOption(given, 'overlap') ?? '30')
      const { partsOf, rotateKey } = await import('@skillstead/core/internal')
      const [current, before] = await withRegistry(given, (registry) =>
        rotateKey(partsOf(registry), { overlapMs: overlapDays * dayMs }),
      )
      return { key: current!.vkey, before: before!.vkey, retiresAt: before!.retiresAt!, overlapDays }
    },
    show: ({ key, before, retiresAt, overlapDays }) => [
      `The new key is ${key}`,
      overlapDays === 0
        ? `The previous key, ${before}, no longer signs.`
        : `The previous key, ${before}, also signs until ${retiresAt}.`,
      'Publish the new key on your usual channels, and ask mirrors and users who pinned the previous key to trust',
      'it: skillstead key --url URL --pin. Saved records keep their old signatures: users who keep such records must',
      'keep the previous key as well.',
    ],
  }),
}

const dayMs = 24 * 60 * 60 * 1000
const overlapDaysMax = 3650

function toDays(given: string): number {
  const days = Number(given)
  if (/^\d+$/.test(given) && days <= overlapDaysMax) return days
  throw new UsageError(`'${given}' is not valid. Use a number of days from 0 to ${overlapDaysMax}.`)
}

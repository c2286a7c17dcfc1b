import { importBundle } from '@skillstead/mirror'
import { alarmCodes } from '@skillstead/protocol'
import { command, flag, textOption } from '../../command/command.ts'
import { choice } from '../../command/values.ts'
import { toSyncLines } from '../../mirror/mirror-lines.ts'
import { applyOptions, networkOptions, toPrivateNames } from '../../mirror/options.ts'
import { showProgress } from '../../mirror/progress.ts'
import { storeOptions, withRegistry } from '../../registry/place.ts'
import { originOption, scanPolicyOption, toLogOrigin, toScanPolicy } from '../../registry/registry-options.ts'
import { createErrorLog } from '../../terminal/output.ts'
import { readGivenKeys } from '../../verify/read-keys.ts'

export const commands = {
  'bundle import': command({
    description:
      'Import a bundle into a registry. The whole bundle is verified first. An interrupted import can be run again; importing the same bundle twice changes nothing.',
    words: ['FILE'],
    options: {
      name: {
        value: 'NAME',
        help: 'the local name of the source registry. Default: derived from its origin',
      },
      key: {
        value: 'VKEY',
        help: 'the public key of the source registry, or a file with it; no other key is trusted from now on. For a bundle that a mirror made: the key of the registry which the mirror syncs from',
      },
      ...applyOptions,
      'private-names': networkOptions['private-names']!,
      ...scanPolicyOption,
      ...originOption,
      ...storeOptions,
    },
    async run(given, output) {
      given.io.limitMemory?.()
      const [file] = given.words
      const key = textOption(given, 'key')
      const options = {
        name: textOption(given, 'name'),
        keys: key === undefined ? undefined : readGivenKeys(key),
        full: flag(given, 'full'),
        allowRemovals: flag(given, 'allow-removals'),
        accept: choice(textOption(given, 'accept'), alarmCodes, 'alarm'),
        privateNames: toPrivateNames(given),
      }
      const signal = given.io.interruption()
      const onError = createErrorLog(given.io)
      return showProgress(output, (onProgress) =>
        withRegistry(given, (registry) => importBundle(registry, file, { ...options, signal, onProgress, onError }), {
          make: true,
          scanPolicy: toScanPolicy(given),
          origin: toLogOrigin(given),
        }),
      )
    },
    show: (report) => [
      ...toSyncLines(report),
      ...(report.isFirstUse
        ? [
            `The key of ${report.origin} was taken from the bundle and is trusted from now on. Compare it with one from another source:`,
            ...report.keys.map((key) => `  ${key}`),
          ]
        : []),
      `Create the next bundle with: ${report.next}`,
    ],
  }),
}

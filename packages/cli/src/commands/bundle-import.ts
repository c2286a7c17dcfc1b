import { alarmCodes } from '@skillstead/protocol'
import { importBundle, type ImportedBundle } from '@skillstead/mirror'
import { choice, flag, text, type Command } from '../command.ts'
import { toReportLines } from '../mirror/mirror-lines.ts'
import { networkOptions, toPrivateNames } from '../mirror/options.ts'
import { createProgressLine } from '../mirror/progress.ts'
import { createErrorLog } from '../output.ts'
import { originOption, toOrigin } from '../origin-option.ts'
import { storeOptions, withRegistry } from '../place.ts'
import { scanPolicyOption, toScanPolicy } from '../scan-policy.ts'
import { readGivenKeys } from '../verify/given-keys.ts'

/** `skillstead bundle import FILE`. */
export const importFile: Command<ImportedBundle> = {
  summary:
    'Brings a bundle into a registry: all of it is verified before anything comes in. It can be ended at any moment and begun again; the same bundle a second time changes nothing.',
  words: ['FILE'],
  options: {
    name: {
      value: 'NAME',
      help: 'how the registry that it comes from is called here; made of its origin unless it is said',
    },
    key: {
      value: 'VKEY',
      help: 'the public key of that registry, or a file of it: no other is believed from now on. Of a bundle that a mirror made, that of the registry which the mirror follows',
    },
    full: { help: 'from the beginning again: what is here is compared, and what an earlier bundle lacked comes in' },
    'allow-removals': { help: 'goes on though it hides more than one skill in a hundred' },
    accept: { value: 'ALARM', help: 'goes on from an alarm that you have looked into; `mirror status` names it' },
    'private-names': networkOptions['private-names']!,
    ...scanPolicyOption,
    ...originOption,
    ...storeOptions,
  },
  async run(given, output) {
    given.io.limitMemory?.()
    const [file] = given.words as [string]
    const key = text(given, 'key')
    const options = {
      name: text(given, 'name'),
      keys: key === undefined ? undefined : readGivenKeys(key),
      full: flag(given, 'full'),
      allowRemovals: flag(given, 'allow-removals'),
      accept: choice(text(given, 'accept'), alarmCodes, 'alarm'),
      privateNames: toPrivateNames(given),
    }
    const signal = given.io.interruption()
    const line = createProgressLine(output)
    const work = (registry: Parameters<typeof importBundle>[0]) =>
      importBundle(registry, file, { ...options, signal, onProgress: line.tell, onError: createErrorLog(given.io) })
    try {
      return await withRegistry(given, work, { make: true, scanPolicy: toScanPolicy(given), origin: toOrigin(given) })
    } finally {
      line.end()
    }
  },
  show: (report) => [
    ...toReportLines(report),
    ...(report.isFirstUse
      ? [
          `The key of ${report.origin} was taken from the bundle, and is believed from now on. Compare it by another way:`,
          ...report.keys.map((key) => `  ${key}`),
        ]
      : []),
    `The next bundle goes on with: ${report.next}`,
  ],
}

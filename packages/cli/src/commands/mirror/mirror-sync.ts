import type { Mirror, SyncOptions, SyncReport } from '@skillstead/mirror'
import { RegistryError, alarmCodes } from '@skillstead/protocol'
import { command, flag, textOption, type Arguments, type Options } from '../../command/command.ts'
import { choice } from '../../command/values.ts'
import { toSyncLines } from '../../mirror/mirror-lines.ts'
import { applyOptions, askingOptions, toPinnedKey } from '../../mirror/options.ts'
import { showProgress } from '../../mirror/progress.ts'
import { withMirror } from '../../mirror/with-mirror.ts'
import { storeOptions } from '../../registry/place.ts'
import { originOption, scanPolicyOption, toScanPolicy } from '../../registry/registry-options.ts'
import type { Output } from '../../terminal/output.ts'

const newKeyOption: Options = {
  key: {
    value: 'VKEY',
    help: "the upstream's new public key, or a FILE with it, to resume after the pause reasons `key` and `origin`; required if a key is pinned",
  },
}

export const commands = {
  'mirror sync': command({
    description:
      'Import, verify and scan new versions from an upstream. It can be interrupted at any time and run again.',
    words: ['NAME'],
    options: {
      ...applyOptions,
      ...newKeyOption,
      ...scanPolicyOption,
      ...askingOptions,
      ...originOption,
      ...storeOptions,
    },
    run(given, output) {
      const accept = choice(textOption(given, 'accept'), alarmCodes, 'alarm')
      const key = toPinnedKey(textOption(given, 'key'))
      const options = { full: flag(given, 'full'), allowRemovals: flag(given, 'allow-removals'), accept, key }
      return syncOne(given, output, async () => options)
    },
    show: toSyncLines,
  }),
  'mirror resume': command({
    description: 'Resume a paused upstream, whatever the reason; check the reason first with `mirror status`.',
    words: ['NAME'],
    options: { ...newKeyOption, ...scanPolicyOption, ...askingOptions, ...originOption, ...storeOptions },
    run: (given, output) =>
      syncOne(given, output, async (mirror) => {
        const [name] = given.words
        const alarm = (await mirror.status(name))[0]?.alarm
        if (!alarm)
          throw new RegistryError('conflict', `'${name}' is not paused. Sync it with \`mirror sync ${name}\`.`)
        output.say(`Resuming from ${alarm.code}: ${alarm.message}`)
        return { accept: alarm.code, key: toPinnedKey(textOption(given, 'key')) }
      }),
    show: toSyncLines,
  }),
}

async function syncOne(
  given: Arguments<readonly [name: string]>,
  output: Output,
  choose: (mirror: Mirror) => Promise<SyncOptions>,
): Promise<SyncReport> {
  given.io.limitMemory?.()
  const [name] = given.words
  const signal = given.io.interruption()
  return withMirror(
    given,
    async (mirror) => {
      const options = await choose(mirror)
      const report = await showProgress(output, (onProgress) => mirror.sync(name, { ...options, signal, onProgress }))
      const { applied, requests, head, ...rest } = report
      return { applied, requests, head, ...rest }
    },
    { scanPolicy: toScanPolicy(given) },
  )
}

import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { restoreRegistry } from '@skillstead/maintenance'
import { mirrorExtension } from '@skillstead/mirror/extension'
import { UsageError, command, textOption } from '../../command/command.ts'
import { toEpochLines, toKeyLines, toKeyState } from '../../registry/sealed-keys.ts'
import { findSecretKey } from '../../registry/secret-key.ts'

export const commands = {
  restore: command({
    description:
      'Restore a registry from a backup into a folder that contains no registry. The backup is checked first.',
    words: ['FILE'],
    options: { data: { value: 'DIR', help: 'the folder to restore the registry into' } },
    async run(given) {
      const data = textOption(given, 'data')
      if (data === undefined) throw new UsageError('The target folder is missing. Pass --data DIR.')
      const backup = resolve(given.words[0])
      if (!statSync(backup, { throwIfNoEntry: false })?.isFile())
        throw new UsageError(`The file ${backup} does not exist.`)
      const file = join(data, 'skillstead.db')
      const summary = await restoreRegistry(backup, file, {
        extensions: [mirrorExtension],
        signal: given.io.interruption(),
        secretKey: findSecretKey(given),
      })
      return { file, ...summary, secretKey: toKeyState(summary.sealed) }
    },
    show: (restored) => [
      `Restored ${restored.file}: the registry '${restored.origin}', with ${restored.log} log entries. It is intact.`,
      ...toEpochLines(restored.epoch),
      'API keys deleted since the backup are valid again, and webhooks may receive events a second time.',
      ...toKeyLines(restored),
    ],
  }),
}

import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { restoreRegistry, type RestoreSummary } from '@skillstead/maintenance'
import { UsageError, text, type Command } from '../command.ts'
import { tellEpoch, tellKeys, toKeyState, type KeyState } from '../sealed-keys.ts'
import { findSecretKey } from '../secret-key.ts'

interface Restored extends RestoreSummary {
  readonly file: string
  readonly secretKey: KeyState
}

/** `skillstead restore FILE`: into a folder without a registry. */
export const restore: Command<Restored> = {
  summary: 'Makes a registry from a backup, in a folder that has none; the backup is checked first.',
  words: ['FILE'],
  options: { data: { value: 'DIR', help: 'the folder that is to hold the registry' } },
  async run(given) {
    const data = text(given, 'data')
    if (data === undefined) throw new UsageError('Say where the registry is to be: --data DIR.')
    const backup = resolve(given.words[0]!)
    if (!statSync(backup, { throwIfNoEntry: false })?.isFile()) throw new UsageError(`There is no file ${backup}.`)
    const file = join(data, 'skillstead.db')
    const summary = await restoreRegistry(backup, file, {
      signal: given.io.interruption(),
      secretKey: findSecretKey(given),
    })
    return { file, ...summary, secretKey: toKeyState(summary.sealed) }
  },
  show: (restored) => [
    `Restored ${restored.file}: the registry '${restored.origin}', with ${restored.log} entries in its log. It is sound.`,
    ...tellEpoch(restored.epoch),
    'API keys that were deleted since the backup are good again, and webhooks may be told once more of what they know.',
    ...tellKeys(restored),
  ],
}

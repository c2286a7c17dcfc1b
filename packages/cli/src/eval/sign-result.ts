import { spawnSync } from 'node:child_process'
import { toOneLine } from '@skillstead/protocol'
import { UsageError, textOption, type Arguments } from '../command/command.ts'

/** The file of `--sign`. Throws unless `ssh-keygen` is installed and reads an Ed25519 key there. */
export function findSigningKey(given: Arguments): string | undefined {
  const file = textOption(given, 'sign')
  if (file === undefined) return undefined
  if (textOption(given, 'post') === undefined)
    throw new UsageError('--sign signs a result that is posted. Pass --post NAME@VERSION.')
  // The public part is readable without a passphrase.
  if (!runSshKeygen(given, ['-l', '-f', file]).trim().endsWith('(ED25519)'))
    throw new UsageError(`${toOneLine(file)} is not an Ed25519 key. Make one with: ssh-keygen -t ed25519`)
  return file
}

/** Signs a text with a private key, or by ssh-agent if `file` is a `.pub` file. `ssh-keygen` asks for a passphrase. */
export function signText(given: Arguments, file: string, { text, namespace }: { text: string; namespace: string }) {
  return runSshKeygen(given, ['-Y', 'sign', '-n', namespace, '-f', file], text).replaceAll('\r\n', '\n')
}

function runSshKeygen({ io }: Arguments, args: readonly string[], input = ''): string {
  const { error, status, stdout, stderr } = spawnSync('ssh-keygen', args, { input, env: io.env, encoding: 'utf8' })
  if (error) throw new Error('ssh-keygen, which signs results, cannot be started. Install OpenSSH.', { cause: error })
  if (status !== 0) throw new Error(`ssh-keygen failed: ${toOneLine(stderr.trim() || `exit code ${status}`)}`)
  return stdout
}

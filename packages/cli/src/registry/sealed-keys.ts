import type { SealedKeys } from '@skillstead/maintenance'

export type KeyState = 'given' | 'missing' | 'wrong' | 'not needed'

/** Whether the imported or restored upstream API keys can be decrypted. */
export function toKeyState({ count, isOpened }: SealedKeys): KeyState {
  if (count === 0) return 'not needed'
  if (isOpened === null) return 'missing'
  return isOpened ? 'given' : 'wrong'
}

/** Advice about the secret key, which backups and exports do not contain. */
export function toKeyLines({ sealed, secretKey }: { sealed: SealedKeys; secretKey: KeyState }): string[] {
  if (secretKey === 'given' || secretKey === 'not needed') return []
  const why =
    secretKey === 'missing'
      ? 'Its secret key is missing'
      : 'The secret key is not the one that the registry was used with'
  return [
    `${why}: ${sealed.count} upstream API keys cannot be decrypted. Restore secret.key (or SKILLSTEAD_SECRET_KEY) before you start the node, or enter those API keys again; everything else works.`,
  ]
}

/** Explains the new epoch to the operator: mirrors of the registry pause until their operators accept the epoch. */
export function toEpochLines(epoch: number): string[] {
  return [
    `A new epoch begins: ${epoch}. Mirrors of this registry pause until their operators resume them with --accept epoch.`,
  ]
}

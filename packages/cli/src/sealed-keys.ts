import type { SealedKeys } from '@skillstead/maintenance'

export type KeyState = 'given' | 'missing' | 'wrong' | 'not needed'

/** Whether the API keys for upstreams in what was brought in can be opened. */
export function toKeyState({ count, isOpened }: SealedKeys): KeyState {
  if (count === 0) return 'not needed'
  if (isOpened === null) return 'missing'
  return isOpened ? 'given' : 'wrong'
}

/** What to do about the secret key, which no backup and no export has. */
export function tellKeys({ sealed, secretKey }: { sealed: SealedKeys; secretKey: KeyState }): string[] {
  if (secretKey === 'given' || secretKey === 'not needed') return []
  const why =
    secretKey === 'missing'
      ? 'Its secret key is not here'
      : 'The secret key here is another than the one that it was used with'
  return [
    `${why}: ${sealed.count} API keys for upstreams cannot be opened. Put back secret.key (or SKILLSTEAD_SECRET_KEY) before you start the node, or give those API keys again; everything else works.`,
  ]
}

/** What a new epoch means to those who follow the registry. */
export function tellEpoch(epoch: number): string[] {
  return [`A new epoch begins, ${epoch}: mirrors stop with an alarm, and go on with --accept epoch.`]
}

import { Copyable } from '../../../ui/parts.tsx'

/** A secret that is shown only once. */
export function SecretShown({ secret, onDone }: { secret: string; onDone(): void }) {
  return (
    <section class="card secret" aria-label="The secret">
      <p role="status">Copy the secret now: it is shown only once. Your program verifies signatures with it.</p>
      <Copyable text={secret} />
      <button type="button" onClick={onDone}>
        Done
      </button>
    </section>
  )
}
